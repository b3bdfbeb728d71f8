#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "decode/text/rectangle.hpp"

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(Text, MeansWhatItsAuthorsMean) {
  expect_references("text");
}

class TextRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(TextRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard with_characters(std::vector<std::string> characters) {
  ModelCard card = card_of(Task::kReadText);
  card.characters = std::move(characters);
  return card;
}

ModelCard with_pixel_threshold(float threshold) {
  ModelCard card = card_of(Task::kFindText);
  card.pixel_threshold = threshold;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, TextRefusal,
    testing::Values(
        RefusalRow{"NoDictionary",
                   card_of(Task::kReadText),
                   {{"o", {1, 40, 97}}},
                   "comes without the characters that it reads: set labels to them"},
        RefusalRow{"OtherDictionary",
                   with_characters({"a", "b"}),
                   {{"o", {1, 40, 97}}},
                   "has none for the 2 characters of the model's dictionary"},
        RefusalRow{"EitherWayRound",
                   with_characters({"a", "b"}),
                   {{"o", {1, 4, 3}}},
                   "could be either way round: set model-family to ctc, and tensor-layout"},
        RefusalRow{"DashInTheMiddle",
                   with_characters({"a", "-", "b"}),
                   {{"o", {40, 1, 3}}},
                   "without the blank where that is class 0, else with an entry blank for it"},
        RefusalRow{"DashAtBothEnds",
                   with_characters({"-", "a", "-"}),
                   {{"o", {40, 1, 3}}},
                   "has none for the 3 characters"},
        RefusalRow{"BlankOfItsOwnAndOneMore",
                   with_characters({"a", "blank"}),
                   {{"o", {1, 40, 3}}},
                   "has none for the 2 characters"},
        RefusalRow{"StepsFirst", with_characters({"a", "b"}), {{"o", {40, 1, 3}}}, "[ctc]"},
        RefusalRow{"CharactersFirst", with_characters({"a", "b"}), {{"o", {1, 3, 40}}}, "[ctc]"},
        RefusalRow{
            "Pictures", with_characters({"a", "b"}), {{"o", {40, 2, 3}}}, "has other tensors"},
        RefusalRow{"NoLine", with_characters({"a", "b"}), {{"o", {1, 3}}}, "has other tensors"},
        RefusalRow{"NoMap", card_of(Task::kFindText), {{"o", {1, 2, 64, 64}}}, "has other tensors"},
        RefusalRow{"Reader", with_characters({"a", "b"}), {{"o", {1, 40, 3}}}, "[ctc]"},
        RefusalRow{"ThresholdOfAnAnomaly",
                   with_pixel_threshold(22),
                   {{"o", {1, 1, 64, 64}}},
                   "has a pixel_threshold that is not from 0 to 1"},
        RefusalRow{"Finder", card_of(Task::kFindText), {{"o", {1, 1, 64, 64}}}, "[text-boxes]"}),
    by_name);

Answer read_line(const ModelCard& card, std::vector<std::size_t> shape,
                 const std::vector<double>& values) {
  const TestTensor tensor("o", ElementType::kF32, std::move(shape), values);
  const TensorView view = tensor.view();
  Answer answer;
  make_decoder(card, std::span(&view, 1), {})
      ->decode(std::span(&view, 1), {}, {64, 64}, {}, &answer);
  return answer;
}

Answer read_line(const std::vector<double>& values) {
  ModelCard card = with_characters({"a", "b"});
  card.channels_first = false;
  return read_line(card, {1, values.size() / 3, 3}, values);
}

TEST(ReadText, TakesARepeatAfterABlankForTwo) {
  EXPECT_EQ(read_line({0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}).text, "aab");
}

TEST(ReadText, OfBlanksIsNoAnswer) {
  const Answer answer = read_line({1, 0, 0, 1, 0, 0});
  EXPECT_TRUE(answer.text.empty());
  EXPECT_FALSE(answer.text_confidence.has_value());
}

TEST(ReadText, OfNoNumbersIsNoAnswerAndOfLogitsRefusedWhereItEndsInASoftmax) {
  EXPECT_TRUE(read_line({0, 1, 0, 0, std::nan(""), 0}).text.empty());
  ModelCard card = with_characters({"a", "b"});
  card.raw_scores = true;
  EXPECT_THROW(read_line(card, {1, 2, 3}, {0, 1, 0, -3, 7, 1}), Error);
}

TEST(ReadText, TakesLogitsAndLogarithmsOfSharesForWhatTheyAre) {
  const double likely = std::log(0.5), other = std::log(0.25);
  const Answer logarithms = read_line({other, likely, other, other, other, likely});
  EXPECT_EQ(logarithms.text, "ab");
  EXPECT_NEAR(logarithms.text_confidence.value(), 0.5, 1e-6);
  const Answer logits = read_line({0, 3, -1, 5, 0, 0});
  EXPECT_EQ(logits.text, "a");
  EXPECT_NEAR(logits.text_confidence.value(),
              std::exp(3) / (std::exp(0) + std::exp(3) + std::exp(-1)), 1e-6);
}

// One line that lies in three ways: nothing, "b", "b" again, nothing, "b", "a".
TEST(ReadText, LiesStepsOrCharactersFirst) {
  constexpr std::size_t kSteps = 6;
  constexpr std::size_t kLine[kSteps] = {0, 2, 2, 0, 2, 1};
  std::vector<double> by_step(kSteps * 3, 0.1), by_character(kSteps * 3, 0.1);
  for (std::size_t step = 0; step < kSteps; ++step) {
    by_step[step * 3 + kLine[step]] = by_character[kLine[step] * kSteps + step] = 0.8;
  }
  const ModelCard card = with_characters({"a", "b"});
  for (const Answer& answer :
       {read_line(card, {1, kSteps, 3}, by_step), read_line(card, {kSteps, 1, 3}, by_step),
        read_line(card, {1, 3, kSteps}, by_character)}) {
    EXPECT_EQ(answer.text, "bba");
    EXPECT_NEAR(answer.text_confidence.value(), 0.8, 1e-6);
  }
}

TEST(ReadText, OfAsManyStepsAsCharactersIsReadAsItsCardSays) {
  ModelCard card = with_characters({"a", "b"});
  const std::vector<double> values{0, 1, 0, 0, 0, 1, 1, 0, 0};
  card.channels_first = false;
  EXPECT_EQ(read_line(card, {1, 3, 3}, values).text, "ab");
  card.channels_first = true;
  EXPECT_EQ(read_line(card, {1, 3, 3}, values).text, "ba");
}

TEST(ReadText, HasItsBlankWhereTheDictionaryHasIt) {
  const std::vector<double> values{0.8, 0.1, 0.1, 0.1, 0.1, 0.8, 0.8, 0.1, 0.1, 0.1, 0.8, 0.1};
  EXPECT_EQ(read_line(with_characters({"a", "b", "blank"}), {4, 1, 3}, values).text, "aab");
  EXPECT_EQ(read_line(with_characters({"blank", "a", "b"}), {4, 1, 3}, values).text, "ba");
}

ModelCard with_labels(std::vector<std::string> labels) {
  ModelCard card = card_of(Task::kReadText);
  card.labels = std::move(labels);
  return card;
}

// A blank, "a", a blank, "c": in the model's order the blank is class 0, or the last.
TEST(ReadText, TakesLabelsForItsCharacters) {
  const std::vector<double> first{9, 0, 0, 0, 0, 9, 0, 0, 9, 0, 0, 0, 0, 0, 0, 9};
  const std::vector<double> last{0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0};
  EXPECT_EQ(read_line(with_labels({"a", "b", "c"}), {4, 1, 4}, first).text, "ac");
  for (const char* blank : {"blank", "[blank]", "<blank>", "-"}) {
    SCOPED_TRACE(blank);
    EXPECT_EQ(read_line(with_labels({blank, "a", "b", "c"}), {4, 1, 4}, first).text, "ac");
    EXPECT_EQ(read_line(with_labels({"a", "b", "c", blank}), {4, 1, 4}, last).text, "ac");
    EXPECT_EQ(read_line(with_characters({"a", "b", "c", blank}), {4, 1, 4}, last).text, "ac");
  }
  // An empty line of a file is a space, and a dash among as many characters is one.
  EXPECT_EQ(read_line(with_labels({"", "b", "-"}), {4, 1, 4}, first).text, " -");
}

TEST(ReadText, TakesNoLabelsOfAnotherTask) {
  ModelCard card = card_of(Task::kUnknown, 3);
  EXPECT_FALSE(has(refusal_of(card, {{"o", {40, 1, 4}}}), "[ctc]"));
  card.family = Family::kCtc;
  EXPECT_TRUE(has(refusal_of(card, {{"o", {40, 1, 4}}}), "[ctc]"));
}

TEST(ReadText, TakesTheUsersLabelsBeforeTheModelsDictionary) {
  ModelCard user;
  user.labels = {"x", "y"};
  const ModelCard card = merged(user, with_characters({"a", "b"}));
  EXPECT_EQ(read_line(card, {4, 1, 3}, {0, 9, 0, 9, 0, 0, 0, 0, 9, 9, 0, 0}).text, "xy");
}

TEST(SmallestRectangle, IsThatOfTheLongerSide) {
  SmallestRectangle smallest;
  for (const double angle : {0.0, 0.4, -1.2, 1.5}) {
    const auto corners = corners_of({50, 60, 30, 10, angle});
    std::vector<Point> points(corners.begin(), corners.end());
    points.push_back({50, 60});
    const OrientedBox box = smallest.around(&points);
    EXPECT_NEAR(box.center_x, 50, 1e-9);
    EXPECT_NEAR(box.center_y, 60, 1e-9);
    EXPECT_NEAR(box.width, 30, 1e-9);
    EXPECT_NEAR(box.height, 10, 1e-9);
    EXPECT_NEAR(std::remainder(box.angle - angle, std::numbers::pi), 0, 1e-9);
  }
}

TEST(SmallestRectangle, OfOnePointIsEmpty) {
  SmallestRectangle smallest;
  std::vector<Point> points{{3, 4}, {3, 4}};
  const OrientedBox box = smallest.around(&points);
  EXPECT_EQ(box.center_x, 3);
  EXPECT_EQ(box.width, 0);
  EXPECT_EQ(box.height, 0);
}

}  // namespace
}  // namespace npu::vision
