#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(Ssd, MeansWhatItsAuthorsMean) {
  expect_references("ssd");
}

class SsdRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(SsdRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

constexpr ElementType kLong = ElementType::kI64;

INSTANTIATE_TEST_SUITE_P(
    All, SsdRefusal,
    testing::Values(
        RefusalRow{"TwoLists",
                   card_of(Task::kDetect),
                   {{"a", {1, 1, 100, 7}}, {"b", {1, 1, 100, 7}}},
                   "of no family of models"},
        RefusalRow{"Whole",
                   card_of(Task::kDetect),
                   {{"a", {1, 1, 100, 7}, kLong}},
                   "of no family of models"},
        RefusalRow{
            "NoLabels", card_of(Task::kDetect), {{"boxes", {100, 5}}}, "of no family of models"},
        RefusalRow{"FewerLabels",
                   card_of(Task::kDetect),
                   {{"boxes", {100, 5}}, {"labels", {99}, kLong}},
                   "of no family of models"},
        // Mask R-CNN, which counts its labels otherwise.
        RefusalRow{"Masks",
                   card_of(Task::kDetect),
                   {{"boxes", {100, 5}}, {"labels", {100}, kLong}, {"masks", {100, 28, 28}}},
                   "of no family of models"},
        // D-FINE, whose boxes are pixels.
        RefusalRow{"BoxesOfPixels",
                   card_of(Task::kDetect, 0, Family::kSsd),
                   {{"boxes", {1, 100, 4}}, {"labels", {1, 100}, kLong}, {"scores", {1, 100}}},
                   "of no family of models"},
        RefusalRow{"RowsOfFive",
                   card_of(Task::kUnknown),
                   {{"boxes", {100, 5}}, {"labels", {100}, kLong}},
                   "could be other rows of five: set model-task to detect"},
        RefusalRow{"ScoredBoxes",
                   card_of(Task::kDetect),
                   {{"boxes", {100, 5}}, {"labels", {100}, kLong}},
                   "[ssd]"},
        RefusalRow{"OtherTask", card_of(Task::kSegment), {{"a", {1, 1, 100, 7}}}, "no family"},
        RefusalRow{"Rows", card_of(Task::kUnknown), {{"a", {1, 1, 100, 7}}}, "[ssd]"},
        RefusalRow{"Three",
                   card_of(Task::kDetect),
                   {{"bboxes", {1, 100, 4}}, {"labels", {1, 100}, kLong}, {"scores", {1, 100}}},
                   "[ssd]"},
        // One box at most: its own shape is no mask's.
        RefusalRow{"OneOfThree",
                   card_of(Task::kDetect),
                   {{"bboxes", {1, 1, 4}}, {"labels", {1, 1}, kLong}, {"scores", {1, 1}}},
                   "[ssd]"},
        RefusalRow{"OneScoredBox",
                   card_of(Task::kDetect),
                   {{"boxes", {1, 1, 5}}, {"labels", {1, 1}, kLong}},
                   "[ssd]"},
        RefusalRow{"OneMask",
                   card_of(Task::kDetect),
                   {{"boxes", {1, 1, 5}}, {"labels", {1, 1}, kLong}, {"masks", {1, 1, 28, 28}}},
                   "of no family of models"}),
    by_name);

Answer decoded(const std::vector<double>& rows, std::size_t labels) {
  const TestTensor tensor("o", ElementType::kF32, {1, 1, rows.size() / 7, 7}, rows);
  const TensorView view = tensor.view();
  Answer answer;
  make_decoder(card_of(Task::kDetect, labels), std::span(&view, 1), {64, 64})
      ->decode(std::span(&view, 1), {.model_width = 64, .model_height = 64}, {64, 64}, {}, &answer);
  return answer;
}

TEST(Ssd, EndsItsListWithANegativeImage) {
  EXPECT_EQ(decoded({0, 1, 0.9, 0, 0, 1, 1, -1, 0, 0, 0, 0, 0, 0, 0, 1, 0.9, 0, 0, 1, 1}, 2)
                .objects.size(),
            1U);
}

// Boxes of a batch of two would be taken for those of the first picture.
TEST(Ssd, RefusesRowsOfAnotherImage) {
  EXPECT_THROW(decoded({0, 1, 0.9, 0, 0, 1, 1, 1, 1, 0.8, 0, 0, 1, 1}, 2), Error);
  EXPECT_EQ(decoded({0, 1, 0.9, 0, 0, 1, 1, 1, 1, 0.1, 0, 0, 1, 1}, 2).objects.size(), 1U)
      << "no object";
}

TEST(Ssd, RefusesBoxesThatArePixels) {
  EXPECT_THROW(decoded({0, 1, 0.9, 0, 10, 30, 40, 0, 0, 0.8, 5, 5, 60, 20}, 2), Error);
  EXPECT_EQ(decoded({0, 1, 0.9, -0.2, 0, 1.3, 1.2}, 2).objects.size(), 1U) << "over the edge";
}

TEST(Ssd, RefusesScoredBoxesThatAreNoPixels) {
  const TestTensor labels("labels", ElementType::kI64, {2}, {0, 1});
  const auto decode_boxes = [&](const std::vector<double>& values) {
    const TestTensor boxes("boxes", ElementType::kF32, {2, 5}, values);
    const std::vector<TensorView> views{boxes.view(), labels.view()};
    Answer answer;
    make_decoder(card_of(Task::kDetect, 2), views, {64, 64})
        ->decode(views, {.model_width = 64, .model_height = 64}, {640, 640}, {}, &answer);
    return answer.objects.size();
  };
  EXPECT_THROW(decode_boxes({0.1, 0.1, 0.5, 0.5, 0.9, 0, 0, 1, 1, 0.2}), Error);
  EXPECT_EQ(decode_boxes({0.1, 0.1, 0.5, 0.5, 0.9, 0, 0, 9, 1, 0.2}), 1U) << "a tiny object";
}

TEST(Ssd, SuppressesOverlapsWhereTheModelSaysSo) {
  // The same place: twice of class 0, once of class 1.
  const std::vector<double> rows{0, 0, 0.9, 0, 0, 1,   1, 0, 0, 0.8, 0,
                                 0, 1, 1,   0, 1, 0.7, 0, 0, 1, 1};
  const TestTensor tensor("o", ElementType::kF32, {1, 1, 3, 7}, rows);
  const TensorView view = tensor.view();
  const auto count = [&](std::optional<bool> suppresses, bool is_agnostic) {
    ModelCard card = card_of(Task::kDetect, 2);
    card.suppresses = suppresses;
    card.agnostic = is_agnostic;
    Answer answer;
    make_decoder(card, std::span(&view, 1), {64, 64})
        ->decode(std::span(&view, 1), {.model_width = 64, .model_height = 64}, {64, 64},
                 options_of(card), &answer);
    return answer.objects.size();
  };
  EXPECT_EQ(count({}, false), 3U) << "the graph does";
  EXPECT_EQ(count(false, true), 3U);
  EXPECT_EQ(count(true, false), 2U);
  EXPECT_EQ(count(true, true), 1U);
}

TEST(Ssd, RefusesWhatIsNoScoreOrNoClass) {
  EXPECT_THROW(decoded({0, 1, 1.9, 0, 0, 1, 1}, 2), Error);
  EXPECT_THROW(decoded({0, 2, 0.9, 0, 0, 1, 1}, 2), Error);
  EXPECT_THROW(decoded({0, 0.5, 0.9, 0, 0, 1, 1}, 2), Error);
}

}  // namespace
}  // namespace npu::vision
