#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(Classification, MeansWhatItsAuthorsMean) {
  expect_references("classification");
}

class ClassificationRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(ClassificationRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard named(const std::string& output) {
  ModelCard card = card_of(Task::kClassify);
  card.output = output;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, ClassificationRefusal,
    testing::Values(
        RefusalRow{"NothingSaid",
                   card_of(Task::kUnknown),
                   {{"o", {1, 10}}},
                   "could be an embedding: set model-task to classify"},
        RefusalRow{"OtherLabels",
                   card_of(Task::kClassify, 9),
                   {{"o", {1, 10}}},
                   "has none with a class for each of the 9 labels"},
        RefusalRow{"Map", card_of(Task::kClassify), {{"o", {1, 10, 4, 4}}}, "has other tensors"},
        RefusalRow{"OneClass", card_of(Task::kClassify), {{"o", {1, 1}}}, "has other tensors"},
        RefusalRow{"Whole",
                   card_of(Task::kClassify),
                   {{"o", {1, 10}, ElementType::kI32}},
                   "has whole numbers, whose scale it does not say"},
        RefusalRow{"Quantised",
                   card_of(Task::kClassify, 10),
                   {{"o", {1, 10}, ElementType::kI8}},
                   "has whole numbers, whose scale it does not say"},
        RefusalRow{"QuantisedOfOtherLabels",
                   card_of(Task::kClassify, 9),
                   {{"o", {1, 10}, ElementType::kU8}},
                   "a class for each of the 9 labels"},
        RefusalRow{"Batch", card_of(Task::kClassify), {{"o", {2, 10}}}, "has other tensors"},
        RefusalRow{"Two",
                   card_of(Task::kClassify),
                   {{"o", {1, 10}}, {"p", {1, 10}}},
                   "has more than one such tensor: set tensor-name to \"o\" or \"p\""},
        RefusalRow{"OtherName",
                   named("logits"),
                   {{"o", {1, 10}}, {"p", {1, 10}}},
                   "\"p\" f32 [1,10] (task classify, 0 labels) have none named \"logits\", as "
                   "tensor-name or the model's .modelinfo wants it"},
        RefusalRow{"Embedding", card_of(Task::kEmbed), {{"o", {1, 10, 4}}}, "embedding is"},
        RefusalRow{"ByLabels",
                   card_of(Task::kUnknown, 10),
                   {{"o", {1, 10}}, {"features", {1, 64}}},
                   "[classification]"},
        RefusalRow{"AnEmbeddingInstead", card_of(Task::kEmbed), {{"o", {1, 10}}}, "[embedding]"}),
    by_name);

/// One frame after the other, by one decoder.
std::vector<Answer> classified_frames(const ModelCard& card,
                                      const std::vector<std::vector<double>>& frames) {
  std::vector<Answer> answers;
  std::unique_ptr<Decoder> decoder;
  for (const std::vector<double>& values : frames) {
    const TestTensor tensor("o", ElementType::kF32, {1, values.size()}, values);
    const TensorView view = tensor.view();
    if (!decoder) {
      decoder = make_decoder(card, std::span(&view, 1), {});
    }
    decoder->decode(std::span(&view, 1), {}, {64, 64}, options_of(card), &answers.emplace_back());
  }
  return answers;
}

Answer classified(const ModelCard& card, const std::vector<double>& values) {
  return classified_frames(card, {values}).front();
}

// ---- Several levels

/// Three labels that exclude each other, and a question of its own, below the first.
ModelCard with_levels() {
  ModelCard card = card_of(Task::kClassify, 4);
  card.level_values = {{0, 0}, {0, 1}, {0, 2}, {1, 3}};
  card.exclusive_groups = 1;
  card.level_parents = {{3, 0}};
  return card;
}

TEST(ClassificationLevels, LetALabelCountBelowItsParentAlone) {
  const Answer below = classified(with_levels(), {3, 1, 1, 2});
  ASSERT_EQ(below.classes.size(), 2U);
  EXPECT_EQ(below.classes[0].label_id, 3U);
  EXPECT_EQ(below.classes[1].label_id, 0U);
  const Answer alone = classified(with_levels(), {1, 3, 1, 2});
  ASSERT_EQ(alone.classes.size(), 1U);
  EXPECT_EQ(alone.classes[0].label_id, 1U);
}

TEST(ClassificationLevels, LetALabelCountBelowAllAboveIt) {
  ModelCard card = card_of(Task::kClassify, 5);
  card.level_values = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}};
  card.exclusive_groups = 1;
  card.level_parents = {{2, 0}, {3, 2}, {4, 3}};
  EXPECT_EQ(classified(card, {3, 1, 2, 2, 2}).classes.size(), 4U);
  EXPECT_EQ(classified(card, {1, 3, 2, 2, 2}).classes.size(), 1U) << "its parents are there";
  EXPECT_EQ(classified(card, {3, 1, -2, 2, 2}).classes.size(), 1U);
}

TEST(ClassificationLevels, OfAQuestionAreThoseAboveTheThreshold) {
  ModelCard card = with_levels();
  card.confidence_threshold = 0.5F;
  EXPECT_EQ(classified(card, {3, 1, 1, 0}).classes.size(), 1U) << "one half is not above it";
  EXPECT_EQ(classified(card, {3, 1, 1, 0.01}).classes.size(), 2U);
}

TEST(ClassificationLevels, KnowNothingOfTheFrameBefore) {
  const TestTensor first("o", ElementType::kF32, {1, 4}, {3, 1, 1, 2});
  const TestTensor second("o", ElementType::kF32, {1, 4}, {1, 3, 1, -2});
  const ModelCard card = with_levels();
  const auto decoder = make_decoder(card, std::vector{first.view_without_data()}, {});
  Answer answer;
  decoder->decode(std::vector{first.view()}, {}, {64, 64}, options_of(card), &answer);
  EXPECT_EQ(answer.classes.size(), 2U);
  decoder->decode(std::vector{second.view()}, {}, {64, 64}, options_of(card), &answer);
  ASSERT_EQ(answer.classes.size(), 1U);
  EXPECT_EQ(answer.classes[0].label_id, 1U);
  DecodeOptions none = options_of(card);
  none.max_classes = 1;
  decoder->decode(std::vector{first.view()}, {}, {64, 64}, none, &answer);
  EXPECT_EQ(answer.classes.size(), 1U) << "the best one alone";
}

TEST(ClassificationLevels, AreRefusedWhereTheyContradictThemselves) {
  const auto refusal = [](const std::function<void(ModelCard*)>& change, std::size_t values = 4) {
    ModelCard card = with_levels();
    change(&card);
    return refusal_of(card, {{"o", {1, values}}}, {});
  };
  const auto says = [&](const std::function<void(ModelCard*)>& change, const char* what) {
    const std::string text = refusal(change);
    EXPECT_TRUE(has(text, what));
  };
  EXPECT_EQ(refusal([](ModelCard*) {}), "[classification]");
  EXPECT_TRUE(has(refusal([](ModelCard*) {}, 5), "a value for each of the 4"));
  says([](ModelCard* card) { card->level_parents = {{3, 0}, {0, 3}}; }, "below itself");
  says([](ModelCard* card) { card->level_parents = {{3, 0}, {3, 1}}; }, "below two others");
  says([](ModelCard* card) { card->level_values[3] = {1, 9}; }, "a label 9 of 4");
  says([](ModelCard* card) { card->level_values[3] = {1, 2}; }, "two values of one label");
  says([](ModelCard* card) { card->level_values[1] = {1, 1}; }, "not in order");
  says([](ModelCard* card) { card->exclusive_groups = 3; }, "fewer groups");
  says([](ModelCard* card) { card->exclusive_groups = 0; }, "two labels of one question");
}

TEST(Classification, OfNoNumbersIsNoAnswer) {
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Answer answer = classified(card_of(Task::kClassify), {1, odd, 3});
    EXPECT_TRUE(answer.classes.empty());
    EXPECT_TRUE(answer.is_undefined);
    EXPECT_TRUE(classified(with_levels(), {1, odd, 3, 0}).is_undefined);
  }
}

TEST(Classification, WhoseRawScoresAreNoneIsRefused) {
  ModelCard card = card_of(Task::kClassify);
  card.raw_scores = true;
  EXPECT_THROW(classified(card, {0.1, 4, 0}), Error);
}

/// A softmax in whole steps of 8 bits, to the nearest or cut.
std::vector<double> quantised(std::size_t classes, double step, bool is_cut) {
  std::vector<double> values;
  double sum = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    values.push_back(std::exp(-0.3 * static_cast<double>(i)));
    sum += values.back();
  }
  for (double& value : values) {
    const double steps = value / sum / step;
    value = step * (is_cut ? std::floor(steps) : std::round(steps));
  }
  return values;
}

// A second softmax would make all classes nearly equal.
TEST(Classification, TakesProbabilitiesOfEightBitsAsTheyAre) {
  for (const std::size_t classes : {2U, 10U, 40U, 1000U}) {
    for (const double step : {1.0 / 255, 1.0 / 256, 0.6 / 255}) {
      for (const bool is_cut : {false, true}) {
        const auto values = quantised(classes, step, is_cut);
        const Answer found = classified(card_of(Task::kClassify), values);
        ASSERT_EQ(found.classes.size(), 1U);
        EXPECT_NEAR(found.classes[0].confidence, values[0], 1e-6) << classes << ' ' << step;
      }
    }
  }
}

// 162 and 75 steps of 1/255 in f16; the rest of the classes was cut to zero.
TEST(Classification, TakesProbabilitiesOfEightBitsInF16AsTheyAre) {
  std::vector<double> values(1000);
  values[3] = 0.6352539;
  values[4] = 0.1412354;
  const Answer found = classified(card_of(Task::kClassify), values);
  ASSERT_EQ(found.classes.size(), 1U);
  EXPECT_NEAR(found.classes[0].confidence, values[3], 1e-6);
}

TEST(Classification, TakesOtherSmallNumbersForLogits) {
  // Sums of 0.3 and 2, of whole steps of 1/255, and one of no steps.
  for (const std::vector<double>& values :
       {std::vector<double>{51 / 255.0, 26 / 255.0, 0}, std::vector<double>{1, 1, 0},
        std::vector<double>{0.5123, 0.3217, 0.0919}}) {
    EXPECT_LT(classified(card_of(Task::kClassify), values).classes.at(0).confidence, 0.45F);
  }
}

/// Confidence of the best class in each frame.
std::vector<float> confidences(const std::vector<std::vector<double>>& frames) {
  std::vector<float> best;
  for (const Answer& answer : classified_frames(card_of(Task::kClassify), frames)) {
    best.push_back(answer.classes.at(0).confidence);
  }
  return best;
}

TEST(Classification, StaysWithWhatTheFirstFrameTold) {
  // Logits that are from 0 to 1 and together 1 in the second frame.
  const auto logits = confidences({{4, -2, 1}, {0.8, 0.1, 0.1}});
  EXPECT_NEAR(logits[1], 0.5017F, 1e-4F) << "the softmax of 0.8";
  // Probabilities whose sum is lost in the second frame.
  const auto sure = confidences({{0.8, 0.1, 0.1}, {0.7123, 0.1217, 0.0919}, {1.004, -0.004, 0}});
  EXPECT_NEAR(sure[1], 0.7123F, 1e-6F);
  EXPECT_EQ(sure[2], 1.0F);
}

// In f16 a sure class may be the next number above 1.
TEST(Classification, TakesRoundedProbabilitiesOfTheFirstFrameForThem) {
  for (const std::vector<double>& first :
       {std::vector<double>{1.0009766, 0, 0}, std::vector<double>{0.9995, -0.0005, 0.001}}) {
    const auto found = confidences({first, {0.8, 0.1, 0.1}});
    EXPECT_NEAR(found[0], 1.0F, 1e-3F);
    EXPECT_NEAR(found[1], 0.8F, 1e-6F);
  }
}

TEST(Classification, TurnsOnceWhereNoProbabilityIsLikeThat) {
  const auto found = confidences({{0.8, 0.1, 0.1}, {3, 0.1, 0.1}, {0.8, 0.1, 0.1}});
  EXPECT_NEAR(found[0], 0.8F, 1e-6F) << "nothing tells yet that it is a logit";
  EXPECT_LT(found[1], 0.95F);
  EXPECT_LT(found[2], 0.6F);
}

TEST(Classification, DecidesNothingByAFrameOfEqualValues) {
  const auto found = confidences({std::vector<double>(300, 0), std::vector<double>(300, 2.0)});
  EXPECT_NEAR(found[0], 1.0F / 300, 1e-6F);
  std::vector<double> sure(300, 0);
  sure[7] = 1;
  EXPECT_EQ(confidences({std::vector<double>(300, 0), sure})[1], 1.0F);
}

// A class of a thousand is seldom sure: the best one is an answer all the same.
TEST(Classification, HasNoThresholdUnlessOneIsGiven) {
  ModelCard card = card_of(Task::kClassify);
  EXPECT_EQ(classified(card, {0.1, 0, 0.2}).classes.size(), 1U);
  card.confidence_threshold = 0.5F;
  EXPECT_TRUE(classified(card, {0.1, 0, 0.2}).classes.empty());
}

TEST(Classification, OfManyLabelsHasEachThatIsThere) {
  ModelCard card = card_of(Task::kClassify);
  card.multilabel = true;
  const Answer found = classified(card, {1, -1, 3});
  ASSERT_EQ(found.classes.size(), 2U);
  EXPECT_EQ(found.classes[0].label_id, 2U);
  EXPECT_EQ(found.classes[1].label_id, 0U);
}

}  // namespace
}  // namespace npu::vision
