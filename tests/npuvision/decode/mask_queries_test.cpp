#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision::mask_queries_test {
namespace {

TEST(MaskQueries, MeanWhatTheirAuthorsMean) {
  expect_references("mask_queries");
}

class MaskQueriesRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(MaskQueriesRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

const std::vector<Shaped> kNamed{{"class_queries_logits", {1, 100, 81}},
                                 {"masks_queries_logits", {1, 100, 32, 32}}};
const std::vector<Shaped> kUnnamed{{"a", {1, 100, 81}}, {"b", {1, 100, 32, 32}}};
const std::vector<Shaped> kWithFeatures{
    {"a", {1, 100, 81}}, {"b", {1, 100, 32, 32}}, {"c", {1, 100, 256}}};

INSTANTIATE_TEST_SUITE_P(
    All, MaskQueriesRefusal,
    testing::Values(RefusalRow{"Objects", card_of(Task::kSegment, 80), kNamed, "[mask-queries]"},
                    RefusalRow{"Places", card_of(Task::kSemantic, 80), kNamed, "[mask-queries]"},
                    RefusalRow{"NoTask", card_of(Task::kUnknown, 80, Family::kMaskQueries), kNamed,
                               "set model-task to semantic or to segment"},
                    RefusalRow{"OtherLabels", card_of(Task::kSegment, 81, Family::kMaskQueries),
                               kNamed, "has 80 classes and one for none, but there are 81 labels"},
                    RefusalRow{"NoNames", card_of(Task::kSegment, 80), kUnnamed,
                               "could have masks of another kind: set model-family"},
                    RefusalRow{"ByFamily", card_of(Task::kSegment, 80, Family::kMaskQueries),
                               kWithFeatures, "[mask-queries]"},
                    RefusalRow{"FeaturesOrClasses",
                               card_of(Task::kSegment, 0, Family::kMaskQueries), kWithFeatures,
                               "has other tensors, or more than one such pair"},
                    RefusalRow{"OtherProportions",
                               card_of(Task::kSegment, 80, Family::kMaskQueries), kNamed,
                               "has other proportions than the model's input", InputSize{128, 64}},
                    RefusalRow{"NoLabels", card_of(Task::kSemantic), kNamed, "[mask-queries]"}),
    by_name);

/// Two queries of two classes and none, with masks of 2x2 over a frame of 4x4.
Answer decoded(Task task, const std::vector<double>& classes, const std::vector<double>& masks,
               float threshold = 0.5F, const char* architecture = "") {
  const TestTensor logits("class_queries_logits", ElementType::kF32, {1, 2, 3}, classes);
  const TestTensor planes("masks_queries_logits", ElementType::kF32, {1, 2, 2, 2}, masks);
  const std::vector<TensorView> views{logits.view(), planes.view()};
  ModelCard card = card_of(task, 2, Family::kMaskQueries);
  card.architecture = architecture;
  Answer answer;
  make_decoder(card, views, {4, 4})
      ->decode(views, {.model_width = 4, .model_height = 4}, {4, 4},
               {.confidence_threshold = threshold}, &answer);
  return answer;
}

// log(2), log(1), log(1) are the shares 1/2, 1/4, 1/4; log(3) is the mask 3/4, -log(3) 1/4.
const double kTwo = std::log(2.0), kThree = std::log(3.0);

// Class 0 has 1/2 * 3/4 + 1/4 * 1/4 on the left, and class 1 has 1/4 * 3/4 + 1/2 * 1/4.
TEST(MaskQueries, AddUpForEachPlace) {
  const Answer answer =
      decoded(Task::kSemantic, {kTwo, 0, 0, 0, kTwo, 0},
              {kThree, -kThree, kThree, -kThree, -kThree, kThree, -kThree, kThree});
  EXPECT_EQ(answer.class_map.width, 2U);
  EXPECT_EQ(answer.class_map.values, (std::vector<std::uint16_t>{0, 1, 0, 1}));
  EXPECT_TRUE(answer.objects.empty());
  // A place has the likeliest class even where none is likely.
  EXPECT_EQ(
      decoded(Task::kSemantic, {0, 1, 9, 0, 1, 9}, std::vector<double>(8, 1.0)).class_map.values,
      (std::vector<std::uint16_t>(4, 1)));
}

// The upper row belongs to it: 1/2 * (3/4 + 99/100) / 2. Between log(3) and -log(3) the logit
// changes its sign in the middle, between log(99) and -log(3) lower down.
TEST(MaskQueries, AreObjectsThatTheirMasksScore) {
  const Answer answer = decoded(Task::kSegment, {kTwo, 0, 0, -9, -9, 9},
                                {kThree, std::log(99.0), -kThree, -kThree, 9, 9, 9, 9}, 0.43F);
  ASSERT_EQ(answer.objects.size(), 1U);
  const Object& object = answer.objects[0];
  EXPECT_EQ(object.label_id, 0U);
  EXPECT_NEAR(object.confidence, 0.5 * (0.75 + 0.99) / 2, 1e-6);
  EXPECT_EQ(object.left, 0);
  EXPECT_EQ(object.top, 0);
  EXPECT_EQ(object.right, 4);
  EXPECT_EQ(object.bottom, 3);
  ASSERT_EQ(answer.masks.size(), 1U);
  const auto row = [&](std::size_t y) {
    const auto first = answer.mask_pixels.begin() + static_cast<std::ptrdiff_t>(y * 4);
    return std::vector<int>(first, first + 4);
  };
  EXPECT_EQ(row(1), (std::vector<int>{255, 255, 255, 255}));
  EXPECT_EQ(row(2), (std::vector<int>{0, 0, 255, 255}));
  EXPECT_TRUE(answer.class_map.empty());
  EXPECT_TRUE(decoded(Task::kSegment, {kTwo, 0, 0, -9, -9, 9},
                      {kThree, std::log(99.0), -kThree, -kThree, 9, 9, 9, 9}, 0.44F)
                  .objects.empty());
}

// Scaled to 384 rows, half of them are positive; their mean is that between 1/2 and 3/4.
TEST(MaskQueries, OfMask2FormerAreScoredAt384Pixels) {
  const std::vector<double> classes{kTwo, 0, 0, -9, -9, 9};
  const std::vector<double> masks{kThree, kThree, -kThree, -kThree, 9, 9, 9, 9};
  double sum = 0;
  for (int row = 0; row < 192; ++row) {
    const double share = std::min(std::max((row + 0.5) / 192 - 0.5, 0.0), 1.0);
    sum += 1 / (1 + std::exp(-kThree * (1 - 2 * share)));
  }
  const auto confidence = [&](const char* architecture) {
    return decoded(Task::kSegment, classes, masks, 0.3F, architecture).objects.at(0).confidence;
  };
  EXPECT_NEAR(confidence("Mask2FormerForUniversalSegmentation"), 0.5 * sum / 192, 1e-6);
  EXPECT_NEAR(confidence("MaskFormerForInstanceSegmentation"), 0.5 * 0.75, 1e-6);
}

TEST(MaskQueries, WithoutAPixelAreNoObject) {
  EXPECT_TRUE(
      decoded(Task::kSegment, {9, 0, 0, 9, 0, 0}, std::vector<double>(8, -1.0), 0).objects.empty());
}

TEST(MaskQueries, OfNoNumbersAreUndefined) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> masks(8, 1.0);
  EXPECT_TRUE(decoded(Task::kSegment, {kNaN, 0, 0, 0, 0, 0}, masks).is_undefined);
  EXPECT_TRUE(
      decoded(Task::kSemantic, {0, 0, 0, 0, 0, 0}, {1, 1, 1, kNaN, 1, 1, 1, 1}).is_undefined);
}

}  // namespace
}  // namespace npu::vision::mask_queries_test
