// YOLOs that end with their heads' convolutions: what is refused, and nonsense in them.
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <random>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
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
  EXPECT_NE(said.find(row.says), std::string::npos) << said;
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
    [](const auto& row) { return row.param.name; });

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
  EXPECT_NE(refusal_of_values(card, 7).find("which is no probability"), std::string::npos);
  EXPECT_EQ(refusal_of_values(card, 0.75), "");
  card.raw_scores.reset();
  EXPECT_EQ(refusal_of_values(card, 7), "");  // logits
}

double nonsense(std::minstd_rand& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {
      std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 3e38, -3e38, 100, 0};
  if (random() % 20 == 0) return kSpecial[random() % std::size(kSpecial)];
  return static_cast<double>(random() % 1000) / 100 - 5;
}

TEST(YoloGrids, GiveAnAnswerInsideTheFrameOrARefusal) {
  constexpr Family kFamilies[] = {Family::kYoloV3Heads, Family::kYoloV4Heads, Family::kYoloV5Heads,
                                  Family::kYoloV7Heads};
  std::minstd_rand random(5);
  std::size_t found = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    ModelCard card = heads_card(kFamilies[random() % 4], 0);
    if (random() % 3 == 0) {
      card.raw_scores = random() % 2 == 0;
    }
    const std::size_t channels = 18 + random() % 8;
    const ElementType type = random() % 2 == 0 ? ElementType::kF32 : ElementType::kF16;
    std::vector<TestTensor> tensors;
    for (const std::size_t side : {4U, 2U, 1U}) {
      std::vector<double> values(channels * side * side);
      for (double& value : values) value = nonsense(random);
      tensors.emplace_back("head", type, std::vector<std::size_t>{1, channels, side, side}, values,
                           random() % 3);
    }
    std::vector<TensorView> views;
    for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
    const FrameSize frame{static_cast<std::uint32_t>(1 + random() % 90),
                          static_cast<std::uint32_t>(1 + random() % 90)};
    const npu::FrameGeometry geometry{32, 32, 0, 0, frame.width / 32.0, frame.height / 32.0};
    Answer answer;
    try {
      make_decoder(card, views, {32, 32})->decode(views, geometry, frame, {}, &answer);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      ++refused;
    }
    for (const Object& object : answer.objects) {
      EXPECT_TRUE(object.confidence >= 0 && object.confidence <= 1) << object.confidence;
      EXPECT_TRUE(object.left >= 0 && object.left < object.right && object.right <= frame.width);
      EXPECT_TRUE(object.top >= 0 && object.top < object.bottom && object.bottom <= frame.height);
    }
    found += answer.objects.size();
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace npu::vision
