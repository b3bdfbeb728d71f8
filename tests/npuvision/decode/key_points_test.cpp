#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(KeyPoints, MeanWhatTheirAuthorsMean) {
  expect_references("key_points");
}

class KeyPointRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(KeyPointRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard with_key_points(std::uint32_t count, Task task = Task::kKeyPoints) {
  ModelCard card = card_of(task);
  card.key_points = count;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, KeyPointRefusal,
    testing::Values(RefusalRow{"UnknownInput",
                               card_of(Task::kKeyPoints),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "has an input of unknown size",
                               {0, 0}},
                    RefusalRow{"OtherInput",
                               card_of(Task::kKeyPoints, 0, Family::kSimcc),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "simcc is [1, points, 2 * width] and [1, points, 2 * height], but "
                               "this has other tensors",
                               {192, 192}},
                    RefusalRow{"OtherPoints",
                               with_key_points(21),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "has 17 key points, not 21",
                               {192, 256}},
                    RefusalRow{"ThreeOutputs",
                               card_of(Task::kKeyPoints),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}, {"z", {1, 17, 512}}},
                               "of no family of models",
                               {192, 256}},
                    RefusalRow{"FacesOfAnotherInput",
                               card_of(Task::kDetect),
                               {{"b", {1, 896, 16}}, {"s", {1, 896, 1}}},
                               "of no family of models",
                               {192, 192}},
                    RefusalRow{"Palms",
                               card_of(Task::kDetect),
                               {{"b", {1, 2016, 18}}, {"s", {1, 2016, 1}}},
                               "[anchors]",
                               {192, 192}},
                    RefusalRow{"PalmsWithValuesOfFaces",
                               card_of(Task::kDetect),
                               {{"b", {1, 2016, 16}}, {"s", {1, 2016, 1}}},
                               "of no family of models",
                               {192, 192}},
                    RefusalRow{"ScoresOfFaces",
                               card_of(Task::kDetect),
                               {{"b", {1, 2016, 18}}, {"s", {1, 2304, 1}}},
                               "of no family of models",
                               {192, 192}},
                    RefusalRow{"PalmsHaveSeven",
                               with_key_points(6, Task::kDetect),
                               {{"b", {1, 2016, 18}}, {"s", {1, 2016, 1}}},
                               "has 7 key points, not 6",
                               {192, 192}},
                    RefusalRow{"Hand",
                               card_of(Task::kUnknown),
                               {{"p", {1, 63}}, {"a", {1, 1}}, {"b", {1, 1}}, {"w", {1, 63}}},
                               "[landmarks]",
                               {224, 224}},
                    RefusalRow{"HandWithoutSide",
                               card_of(Task::kKeyPoints),
                               {{"p", {1, 63}}, {"a", {1, 1}}},
                               "of no family of models",
                               {224, 224}},
                    RefusalRow{"BodyOfOtherPoints",
                               with_key_points(17),
                               {{"p", {1, 195}}, {"a", {1, 1}}},
                               "has 33 key points, not 17",
                               {256, 256}},
                    RefusalRow{"BodyOfAnyInput",
                               card_of(Task::kPose, 0, Family::kLandmarks),
                               {{"p", {1, 195}}, {"a", {1, 1}}},
                               "has an input of unknown size",
                               {0, 0}},
                    RefusalRow{"Faces",
                               card_of(Task::kUnknown),
                               {{"b", {1, 896, 16}}, {"s", {1, 896, 1}}},
                               "[anchors]"},
                    RefusalRow{"Simcc",
                               card_of(Task::kUnknown),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "[simcc]",
                               {192, 256}}),
    by_name);

/// The answer for two points of a picture of 2x2, each best at the first column and row.
Answer answer_of(const std::vector<double>& values, const ModelCard& card) {
  const TestTensor x("x", ElementType::kF32, {1, 2, 4}, values);
  const TestTensor y("y", ElementType::kF32, {1, 2, 4}, values);
  const std::vector<TensorView> views{x.view(), y.view()};
  const auto decoder = make_decoder(card, views, {2, 2});
  Answer answer;
  decoder->decode(views, {.model_width = 2, .model_height = 2}, {2, 2},
                  options_of(card, decoder->family()), &answer);
  return answer;
}

TEST(Simcc, HoldsToThresholdAndLimit) {
  ModelCard card;
  card.raw_scores = true;
  const std::vector<double> values{0.2, 0, 0, 0, 0.4, 0, 0, 0};
  EXPECT_EQ(answer_of(values, card).objects.size(), 1U) << "whatever its score";
  card.confidence_threshold = 0.25F;
  const Answer found = answer_of(values, card);
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_NEAR(found.objects[0].confidence, 0.3, 1e-6);
  EXPECT_EQ(found.key_points_of(0).size(), 2U);
  card.max_objects = 0;
  EXPECT_TRUE(answer_of(values, card).objects.empty());
  card.max_objects.reset();
  card.confidence_threshold = 0.35F;
  const Answer none = answer_of(values, card);
  EXPECT_TRUE(none.objects.empty());
  EXPECT_TRUE(none.key_points.empty());
}

TEST(Simcc, IsFiniteForTheLargestValues) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const Answer answer = answer_of({kMost, -kMost, 0, 0, -kMost, -kMost, -kMost, -kMost}, {});
  ASSERT_EQ(answer.key_points.size(), 2U);
  for (const KeyPoint& point : answer.key_points) EXPECT_TRUE(std::isfinite(point.confidence));
  EXPECT_TRUE(std::isfinite(answer.objects.at(0).confidence));
  EXPECT_TRUE(answer_of({std::nan(""), 0, 0, 0, 0, 0, 0, 0}, {}).is_undefined);
}

}  // namespace
}  // namespace npu::vision
