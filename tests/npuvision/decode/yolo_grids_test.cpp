// YOLOs that end with their heads' convolutions: what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision::yolo_grids_test {
namespace {

std::vector<Shaped> heads(std::size_t channels) {
  return {{"a", {1, channels, 16, 16}}, {"b", {1, channels, 8, 8}}, {"c", {1, channels, 4, 4}}};
}

ModelCard heads_card(Family family, std::size_t labels, std::vector<float> anchors = {}) {
  ModelCard card = card_of(Task::kDetect, labels, family);
  card.anchors = std::move(anchors);
  return card;
}

class YoloGridsRefuse : public testing::TestWithParam<RefusalRow> {};

TEST_P(YoloGridsRefuse, AndSayWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  const std::string said = refusal_of(row.card, row.outputs, row.input);
  EXPECT_TRUE(has(said, row.says));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, YoloGridsRefuse,
    testing::Values(
        RefusalRow{"Known", heads_card(Family::kYoloV5Heads, 2), heads(21), "[yolov5-heads]"},
        RefusalRow{"WithoutLabels", heads_card(Family::kYoloV3Heads, 0), heads(21),
                   "[yolov3-heads]"},
        RefusalRow{"InAnyOrder",
                   heads_card(Family::kYoloV4Heads, 2),
                   {{"c", {1, 21, 4, 4}}, {"a", {1, 21, 16, 16}}, {"b", {1, 21, 8, 8}}},
                   "[yolov4-heads]"},
        RefusalRow{"ValuesLast",
                   heads_card(Family::kYoloV7Heads, 2),
                   {{"a", {1, 3, 16, 16, 7}}, {"b", {1, 3, 8, 8, 7}}, {"c", {1, 3, 4, 4, 7}}},
                   "[yolov7-heads]"},
        RefusalRow{"TwoWithAnchors",
                   heads_card(Family::kYoloV3Heads, 2, {10, 10, 20, 20}),
                   {{"a", {1, 7, 16, 16}}, {"b", {1, 7, 8, 8}}},
                   "[yolov3-heads]"},
        RefusalRow{"NoVersion", card_of(Task::kDetect, 2), heads(21),
                   "may as well be of another version, with other anchors and another formula: "
                   "set model-family"},
        RefusalRow{"NothingKnown", {}, heads(21), "of another version"},
        RefusalRow{"OtherLabels", heads_card(Family::kYoloV5Heads, 3), heads(21),
                   "has 2 classes, but there are 3 labels"},
        RefusalRow{"NoThirdOfTheChannels", heads_card(Family::kYoloV5Heads, 2), heads(20),
                   "has 20 values in a cell, which is not 3 anchors times 5 + classes"},
        RefusalRow{"NoClass", heads_card(Family::kYoloV5Heads, 0), heads(15),
                   "15 values in a cell"},
        RefusalRow{"OtherAnchorsThanValues",
                   heads_card(Family::kYoloV7Heads, 2),
                   {{"a", {1, 2, 16, 16, 7}}, {"b", {1, 2, 8, 8, 7}}, {"c", {1, 2, 4, 4, 7}}},
                   "14 values in a cell"},
        RefusalRow{"OddAnchors", heads_card(Family::kYoloV5Heads, 2, {1, 2, 3}), heads(21),
                   "has 3 numbers as anchors, which are not a width and a height"},
        RefusalRow{"TwoWithoutAnchors",
                   heads_card(Family::kYoloV3Heads, 2),
                   {{"a", {1, 21, 8, 8}}, {"b", {1, 21, 4, 4}}},
                   "has no anchors, which are known of grids of 8, 16 and 32 pixels only"},
        RefusalRow{"TwoOfYoloV4",
                   heads_card(Family::kYoloV4Heads, 2, {10, 10, 20, 20}),
                   {{"a", {1, 7, 8, 8}}, {"b", {1, 7, 4, 4}}},
                   "for which YOLOv4 has no formula"},
        RefusalRow{"NoInput",
                   heads_card(Family::kYoloV5Heads, 2),
                   heads(21),
                   "without the size of the model's input",
                   {}},
        RefusalRow{"AnotherInput",
                   heads_card(Family::kYoloV5Heads, 2),
                   heads(21),
                   "has other tensors",
                   {100, 128}},
        RefusalRow{"OneMissing",
                   heads_card(Family::kYoloV5Heads, 2),
                   {{"a", {1, 21, 16, 16}}, {"b", {1, 21, 8, 8}}},
                   "has no anchors"},
        RefusalRow{"TwiceTheSame",
                   heads_card(Family::kYoloV5Heads, 2),
                   {{"a", {1, 21, 16, 16}}, {"b", {1, 21, 8, 8}}, {"c", {1, 21, 8, 8}}},
                   "has other tensors"},
        RefusalRow{"MasksOfAKnownFamily", card_of(Task::kSegment, 0, Family::kYoloV5Heads),
                   heads(351), "has the task segment"},
        RefusalRow{"KeyPointsOfAKnownFamily", card_of(Task::kPose, 0, Family::kYoloV7Heads),
                   heads(171), "has the task pose"},
        RefusalRow{"AnotherTask", card_of(Task::kSemantic, 2), heads(21), "segmentation"},
        RefusalRow{"AnotherFamily", card_of(Task::kDetect, 2, Family::kYolo), heads(21),
                   "has other tensors"}),
    by_name);

std::vector<TestTensor> filled(const std::vector<Shaped>& shapes, double value) {
  std::vector<TestTensor> tensors;
  for (const Shaped& shape : shapes) {
    std::size_t count = 1;
    for (const std::size_t dim : shape.dims) count *= dim;
    tensors.emplace_back(shape.name, shape.type, shape.dims, std::vector<double>(count, value));
  }
  return tensors;
}

std::string refusal_of_values(const ModelCard& card, double value) {
  const std::vector<TestTensor> tensors = filled(heads(18), value);
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  Answer answer;
  try {
    make_decoder(card, views, {128, 128})->decode(views, {}, {128, 128}, {}, &answer);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(YoloGrids, RefuseScoresThatAreSaidToBeProbabilitiesAndAreNone) {
  ModelCard card = heads_card(Family::kYoloV5Heads, 1);
  card.raw_scores = true;
  EXPECT_TRUE(has(refusal_of_values(card, 7), "which is no probability"));
  EXPECT_EQ(refusal_of_values(card, 0.75), "");
  card.raw_scores.reset();
  EXPECT_EQ(refusal_of_values(card, 7), "");  // logits
}

}  // namespace
}  // namespace npu::vision::yolo_grids_test
