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
                   "comes without the characters that it reads"},
        RefusalRow{"OtherDictionary",
                   with_characters({"a", "b"}),
                   {{"o", {1, 40, 97}}},
                   "has none for the 2 characters of the model's dictionary"},
        RefusalRow{"NoLine", with_characters({"a", "b"}), {{"o", {1, 3}}}, "has other tensors"},
        RefusalRow{"NoMap", card_of(Task::kFindText), {{"o", {1, 2, 64, 64}}}, "has other tensors"},
        RefusalRow{"Reader", with_characters({"a", "b"}), {{"o", {1, 40, 3}}}, "[ctc]"},
        RefusalRow{"ThresholdOfAnAnomaly",
                   with_pixel_threshold(22),
                   {{"o", {1, 1, 64, 64}}},
                   "has a pixel_threshold that is not from 0 to 1"},
        RefusalRow{"Finder", card_of(Task::kFindText), {{"o", {1, 1, 64, 64}}}, "[text-boxes]"}),
    by_name);

Answer read_line(const std::vector<double>& values) {
  const TestTensor tensor("o", ElementType::kF32, {1, values.size() / 3, 3}, values);
  const TensorView view = tensor.view();
  Answer answer;
  make_decoder(with_characters({"a", "b"}), std::span(&view, 1), {})
      ->decode(std::span(&view, 1), {}, {64, 64}, {}, &answer);
  return answer;
}

TEST(ReadText, TakesARepeatAfterABlankForTwo) {
  EXPECT_EQ(read_line({0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}).text, "aab");
}

TEST(ReadText, OfBlanksIsNoAnswer) {
  const Answer answer = read_line({1, 0, 0, 1, 0, 0});
  EXPECT_TRUE(answer.text.empty());
  EXPECT_FALSE(answer.text_confidence.has_value());
}

TEST(ReadText, OfNoNumbersIsNoAnswerAndOfLogitsRefused) {
  EXPECT_TRUE(read_line({0, 1, 0, 0, std::nan(""), 0}).text.empty());
  EXPECT_THROW(read_line({0, 1, 0, -3, 7, 1}), Error);
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
