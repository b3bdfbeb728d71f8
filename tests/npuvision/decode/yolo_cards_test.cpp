// Tells which cards and shapes are a YOLO head, and which one.
#include <gtest/gtest.h>

#include <npucore/error.hpp>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision::yolo_cards_test {
namespace {

struct ShapeRow {
  const char* name;
  ModelCard card;
  std::vector<std::vector<std::size_t>> shapes;
  InputSize input{640, 640};
  std::string family;  ///< or what the refusal says
};

ModelCard named(ModelCard card, Family family) {
  card.family = family;
  return card;
}

/// As metadata.yaml says it.
ModelCard from_file(ModelCard card) {
  card.origins["family"] = "metadata.yaml";
  return card;
}

ModelCard end_to_end(ModelCard card, bool is_end_to_end = true) {
  card.end_to_end = is_end_to_end;
  return card;
}

ModelCard way_round(ModelCard card, bool channels_first) {
  card.channels_first = channels_first;
  return card;
}

ModelCard points(ModelCard card, std::uint32_t count, std::uint32_t values) {
  card.key_points = count;
  card.key_point_values = values;
  return card;
}

class YoloCards : public testing::TestWithParam<ShapeRow> {};

TEST_P(YoloCards, AreOneFamilysOrRefused) {
  const ShapeRow& row = GetParam();
  std::vector<TensorView> views;
  for (const auto& shape : row.shapes) {
    views.push_back(TestTensor("output", ElementType::kF32, shape, {}).view_without_data());
    views.back().name = "output";
  }
  std::string found;
  try {
    found = to_string(make_decoder(row.card, views, row.input)->family());
  } catch (const npu::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    found = error.what();
  }
  EXPECT_TRUE(has(found, row.family));
  EXPECT_EQ(found.size() == row.family.size(), family_exists(row.family)) << found;
}

const ModelCard kNothing;

INSTANTIATE_TEST_SUITE_P(
    Fitting, YoloCards,
    testing::Values(
        ShapeRow{"ByLabels", card_of(Task::kUnknown, 80), {{1, 84, 8400}}, {}, "yolo"},
        ShapeRow{"ByTask", card_of(Task::kDetect, 0), {{1, 84, 8400}}, {640, 640}, "yolo"},
        ShapeRow{"BoxesFirst", card_of(Task::kDetect, 80), {{1, 8400, 84}}, {640, 640}, "yolo"},
        ShapeRow{"ManyLayers", card_of(Task::kDetect, 0), {{1, 84, 34000}}, {1280, 1280}, "yolo"},
        ShapeRow{"ManyLabelsFewBoxes", card_of(Task::kDetect, 80), {{1, 84, 21}}, {32, 32}, "yolo"},
        ShapeRow{"SquareByHand",
                 way_round(card_of(Task::kDetect, 80), true),
                 {{1, 84, 84}},
                 {64, 64},
                 "yolo"},
        ShapeRow{"OtherLabelsByHand",
                 named(card_of(Task::kDetect, 3), Family::kYolo),
                 {{1, 84, 8400}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"LabelsOfAFile",
                 from_file(named(card_of(Task::kDetect, 80), Family::kYolo)),
                 {{1, 84, 8400}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"BoxesFirstByHand",
                 named(card_of(Task::kDetect, 0), Family::kYolo),
                 {{1, 8400, 84}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"EndToEndOfOneByHand",
                 end_to_end(card_of(Task::kOriented, 15)),
                 {{1, 1, 7}},
                 {640, 640},
                 "yolo-end-to-end"},
        ShapeRow{"Segment",
                 card_of(Task::kSegment, 80),
                 {{1, 116, 8400}, {1, 32, 160, 160}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"SegmentProtosFirst",
                 card_of(Task::kUnknown, 80),
                 {{1, 32, 160, 160}, {1, 116, 8400}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"Pose", card_of(Task::kPose, 1), {{1, 56, 8400}}, {640, 640}, "yolo"},
        ShapeRow{"PoseByPoints",
                 points(card_of(Task::kPose, 0), 17, 3),
                 {{1, 56, 8400}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"Oriented", card_of(Task::kOriented, 15), {{1, 20, 21504}}, {1024, 1024}, "yolo"},
        ShapeRow{
            "EndToEnd", card_of(Task::kDetect, 80), {{1, 300, 6}}, {640, 640}, "yolo-end-to-end"},
        ShapeRow{"EndToEndOfTwo",
                 end_to_end(card_of(Task::kDetect, 2)),
                 {{1, 300, 6}},
                 {640, 640},
                 "yolo-end-to-end"},
        ShapeRow{"EndToEndSegment",
                 card_of(Task::kSegment, 80),
                 {{1, 300, 38}, {1, 32, 160, 160}},
                 {640, 640},
                 "yolo-end-to-end"},
        ShapeRow{"EndToEndPose",
                 points(end_to_end(card_of(Task::kPose, 1)), 17, 3),
                 {{1, 300, 57}},
                 {640, 640},
                 "yolo-end-to-end"},
        ShapeRow{"EndToEndOriented",
                 end_to_end(card_of(Task::kUnknown, 15)),
                 {{1, 300, 7}},
                 {1024, 1024},
                 "yolo-end-to-end"},
        ShapeRow{"TwoClassesOfAGrid",
                 end_to_end(card_of(Task::kDetect, 2), false),
                 {{1, 8400, 6}},
                 {640, 640},
                 "yolo"},
        ShapeRow{"Objectness",
                 card_of(Task::kDetect, 80),
                 {{1, 25200, 85}},
                 {640, 640},
                 "yolo-objectness"},
        ShapeRow{"ObjectnessOfOneClass",
                 card_of(Task::kUnknown, 1),
                 {{1, 25200, 6}},
                 {640, 640},
                 "yolo-objectness"},
        ShapeRow{"ObjectnessOfLargeInputs",
                 card_of(Task::kDetect, 80),
                 {{1, 102000, 85}},
                 {1280, 1280},
                 "yolo-objectness"},
        ShapeRow{"ObjectnessAndMasks",
                 card_of(Task::kUnknown, 80),
                 {{1, 25200, 117}, {1, 32, 160, 160}},
                 {640, 640},
                 "yolo-objectness"},
        ShapeRow{"ObjectnessAndMasksWithoutLabels",
                 card_of(Task::kSegment, 0),
                 {{1, 25200, 117}, {1, 32, 160, 160}},
                 {640, 640},
                 "yolo-objectness"},
        ShapeRow{"YoloX",
                 named(card_of(Task::kUnknown, 0), Family::kYoloX),
                 {{1, 8400, 85}},
                 {640, 640},
                 "yolox"}),
    by_name);

INSTANTIATE_TEST_SUITE_P(
    Refused, YoloCards,
    testing::Values(
        ShapeRow{"Nothing", kNothing, {{1, 84, 8400}}, {640, 640}, "set model-task, or labels"},
        ShapeRow{"NothingEndToEnd",
                 kNothing,
                 {{1, 300, 6}},
                 {640, 640},
                 "may have 2 classes, or be end to end"},
        ShapeRow{"TwoClasses",
                 card_of(Task::kDetect, 2),
                 {{1, 300, 6}},
                 {640, 640},
                 "may have 2 classes, or be end to end"},
        ShapeRow{"OtherLabels",
                 card_of(Task::kDetect, 79),
                 {{1, 84, 8400}},
                 {640, 640},
                 "84 values per box, which is not 4 + 79 labels"},
        ShapeRow{"PoseAsDetection",
                 card_of(Task::kDetect, 1),
                 {{1, 56, 8400}},
                 {640, 640},
                 "56 values per box, which is not 4 + 1 labels"},
        ShapeRow{"OrientedAsDetection",
                 card_of(Task::kUnknown, 15),
                 {{1, 20, 21504}},
                 {1024, 1024},
                 "20 values per box, which is not 4 + 15 labels"},
        ShapeRow{"DetectionAsOriented",
                 card_of(Task::kOriented, 80),
                 {{1, 84, 8400}},
                 {640, 640},
                 "84 values per box, which is not 4 + 80 labels + 1 for the task obb"},
        ShapeRow{"MasksWithoutProtos",
                 card_of(Task::kSegment, 80),
                 {{1, 116, 8400}},
                 {640, 640},
                 "no prototypes of masks"},
        ShapeRow{"DetectionWithProtos",
                 card_of(Task::kDetect, 80),
                 {{1, 84, 8400}, {1, 32, 160, 160}},
                 {640, 640},
                 "four dimensions, which only masks have"},
        ShapeRow{"PointsOfAnotherNumber",
                 points(card_of(Task::kPose, 1), 16, 3),
                 {{1, 56, 8400}},
                 {640, 640},
                 "56 values per box, which is not"},
        ShapeRow{"PointsOfNoNumber",
                 card_of(Task::kPose, 0),
                 {{1, 56, 8400}},
                 {640, 640},
                 "neither labels nor the model's description say"},
        ShapeRow{"PointsOfTwoNumbers",
                 end_to_end(card_of(Task::kPose, 1)),
                 {{1, 300, 12}},
                 {640, 640},
                 "6 values per box for key points"},
        ShapeRow{"Square",
                 card_of(Task::kDetect, 80),
                 {{1, 84, 84}},
                 {64, 64},
                 "could be either way round"},
        ShapeRow{"RowsOfATransformer",
                 card_of(Task::kDetect, 80),
                 {{1, 300, 84}},
                 {640, 640},
                 "300 boxes, which are not those of the model's input"},
        ShapeRow{"TheOtherWayRound",
                 way_round(card_of(Task::kDetect, 80), false),
                 {{1, 84, 8400}},
                 {640, 640},
                 "the other way round"},
        ShapeRow{"TwoOfThree",
                 card_of(Task::kDetect, 80),
                 {{1, 84, 8400}, {1, 84, 8400}},
                 {640, 640},
                 "of no family of models"},
        ShapeRow{"Objectness",
                 card_of(Task::kDetect, 80),
                 {{1, 25200, 85}},
                 {320, 320},
                 "25200 boxes, which are not three for each cell"},
        ShapeRow{"ObjectnessAndOtherMasks",
                 card_of(Task::kSegment, 80),
                 {{1, 25200, 117}, {1, 31, 160, 160}},
                 {640, 640},
                 "117 values per box, which is not 5 + 80 labels + 31 for masks"},
        ShapeRow{"ObjectnessWithoutItsMasks",
                 named(card_of(Task::kSegment, 80), Family::kYoloObjectness),
                 {{1, 25200, 117}},
                 {640, 640},
                 "has no prototypes of masks"},
        ShapeRow{"ObjectnessAndMasksOfOneSizeOnly",
                 named(card_of(Task::kSegment, 0), Family::kYoloObjectness),
                 {{1, 25200, 37}, {1, 32, 160, 160}},
                 {640, 640},
                 "37 values per box, which is not 5 + classes + 32 for masks"},
        ShapeRow{"YoloXOfMasks",
                 named(card_of(Task::kUnknown, 80), Family::kYoloX),
                 {{1, 8400, 117}, {1, 32, 160, 160}},
                 {640, 640},
                 "has the task segment"},
        ShapeRow{"NoClass",
                 card_of(Task::kDetect, 0),
                 {{1, 4, 8400}},
                 {640, 640},
                 "too few for a "
                 "class"},
        ShapeRow{"ABatch",
                 card_of(Task::kDetect, 80),
                 {{2, 84, 8400}},
                 {640, 640},
                 "of no family of models"},
        ShapeRow{"YoloXUnnamed",
                 card_of(Task::kDetect, 80),
                 {{1, 8400, 85}},
                 {640, 640},
                 "set model-family to yolox"},
        ShapeRow{"YoloXWithoutLabels",
                 card_of(Task::kDetect, 0),
                 {{1, 8400, 85}},
                 {640, 640},
                 "may have 81 classes, or objectness and one less"},
        ShapeRow{"YoloXOfOneClass",
                 card_of(Task::kDetect, 80),
                 {{1, 8400, 6}},
                 {640, 640},
                 "may have 2 classes, or be end to end"},
        ShapeRow{"ObjectnessOfOneClassWithOtherLabels",
                 card_of(Task::kUnknown, 3),
                 {{1, 25200, 6}},
                 {640, 640},
                 "may have 2 classes, or be end to end"},
        ShapeRow{"OneRowOfSevenValues",
                 card_of(Task::kOriented, 15),
                 {{1, 1, 7}},
                 {640, 640},
                 "may be no boxes at all"},
        ShapeRow{"StepsOfAReader",
                 card_of(Task::kPose, 1),
                 {{1, 40, 15}},
                 {320, 48},
                 "may be no boxes at all"},
        ShapeRow{"CharactersWhereLabelsAndPointsCouldBe",
                 card_of(Task::kPose, 2),
                 {{1, 40, 97}},
                 {320, 48},
                 "boxes, which are not those of the model's input"},
        ShapeRow{"EndToEndWhereLabelsAndPointsCouldBe",
                 card_of(Task::kPose, 16),
                 {{1, 300, 6}},
                 {640, 640},
                 "6 values per box, and neither labels"},
        ShapeRow{"OtherLabelsThanTheFile",
                 from_file(named(card_of(Task::kDetect, 79), Family::kYolo)),
                 {{1, 84, 8400}},
                 {640, 640},
                 "84 values per box, which is not 4 + 79 labels"},
        ShapeRow{"TokensOfATransformer",
                 from_file(named(card_of(Task::kDetect, 80), Family::kYolo)),
                 {{1, 197, 768}},
                 {224, 224},
                 "of no family of models"},
        ShapeRow{"YoloXOfAnotherInput",
                 named(card_of(Task::kDetect, 80), Family::kYoloX),
                 {{1, 8400, 85}},
                 {416, 416},
                 "not one for each cell"},
        ShapeRow{"AnotherTask",
                 named(card_of(Task::kClassify, 80), Family::kYolo),
                 {{1, 84, 8400}},
                 {640, 640},
                 "has the task classify"},
        ShapeRow{"SaidToBeEndToEnd",
                 end_to_end(card_of(Task::kDetect, 80)),
                 {{1, 84, 8400}},
                 {640, 640},
                 "is said to be end to end"},
        ShapeRow{"SaidNotToBeEndToEnd",
                 end_to_end(card_of(Task::kDetect, 80), false),
                 {{1, 300, 6}},
                 {640, 640},
                 "is said not to be end to end"}),
    by_name);

}  // namespace
}  // namespace npu::vision::yolo_cards_test
