#include <gtest/gtest.h>

#include <limits>

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
  EXPECT_NE(refusal_of(row.card, row.outputs, row.input).find(row.says), std::string::npos)
      << refusal_of(row.card, row.outputs, row.input);
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
                   "has other tensors"},
        RefusalRow{"Batch", card_of(Task::kClassify), {{"o", {2, 10}}}, "has other tensors"},
        RefusalRow{"Two",
                   card_of(Task::kClassify),
                   {{"o", {1, 10}}, {"p", {1, 10}}},
                   "has more than one such tensor: set tensor-name"},
        RefusalRow{"Embedding", card_of(Task::kEmbed), {{"o", {1, 10, 4}}}, "embedding is"},
        RefusalRow{"ByLabels",
                   card_of(Task::kUnknown, 10),
                   {{"o", {1, 10}}, {"features", {1, 64}}},
                   "[classification]"},
        RefusalRow{"AnEmbeddingInstead", card_of(Task::kEmbed), {{"o", {1, 10}}}, "[embedding]"}),
    [](const auto& row) { return row.param.name; });

Answer classified(const ModelCard& card, const std::vector<double>& values) {
  const TestTensor tensor("o", ElementType::kF32, {1, values.size()}, values);
  const TensorView view = tensor.view();
  Answer answer;
  const auto decoder = make_decoder(card, std::span(&view, 1), {});
  decoder->decode(std::span(&view, 1), {}, {64, 64}, options_of(card), &answer);
  return answer;
}

TEST(Classification, OfNoNumbersIsNoAnswer) {
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(classified(card_of(Task::kClassify), {1, odd, 3}).classes.empty());
  }
}

TEST(Classification, WhoseRawScoresAreNoneIsRefused) {
  ModelCard card = card_of(Task::kClassify);
  card.raw_scores = true;
  EXPECT_THROW(classified(card, {0.1, 4, 0}), Error);
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
