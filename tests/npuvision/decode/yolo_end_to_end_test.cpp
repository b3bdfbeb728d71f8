// Heads that are end to end, and those with objectness.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision::yolo_end_to_end_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Rows = std::vector<std::vector<double>>;

/// Filled up with zeros, as a head of 300 boxes has them.
Answer decode(Rows rows, const DecodeOptions& options = {}, std::size_t labels = 80) {
  rows.resize(300, std::vector<double>(6));
  return decoded(card_of(Task::kDetect, labels), tensor_of_rows(rows), options);
}

TEST(YoloEndToEnd, TakesEdgesScoreAndClassAsTheyAre) {
  const Answer found = decode({{100, 120, 200, 260, 0.91F, 16}});
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 100, 120, 200, 260);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.91F);
  EXPECT_EQ(found.objects[0].label_id, 16U);
}

TEST(YoloEndToEnd, SuppressesNothing) {
  EXPECT_EQ(decode({{0, 0, 50, 50, 0.9F, 1}, {0, 0, 50, 50, 0.8F, 1}}).objects.size(), 2U);
}

TEST(YoloEndToEnd, KeepsTheBest) {
  const Answer found =
      decode({{0, 0, 50, 50, 0.7F, 1}, {0, 0, 50, 50, 0.9F, 2}}, {.max_objects = 1});
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].label_id, 2U);
}

TEST(YoloEndToEnd, RowsOfZerosAreNoObjects) {
  EXPECT_TRUE(decode({}, {.confidence_threshold = 0}).objects.empty());
  ModelCard oriented = card_of(Task::kOriented, 3);
  oriented.end_to_end = true;
  const Rows zeros(300, std::vector<double>(7));
  EXPECT_TRUE(
      decoded(oriented, tensor_of_rows(zeros), {.confidence_threshold = 0}).objects.empty());
}

TEST(YoloEndToEnd, LeavesOutLowScoresEmptyBoxesAndNan) {
  const Answer found = decode({{0, 0, 50, 50, 0.1F, 1},
                               {50, 0, 50, 50, 0.9F, 1},
                               {60, 0, 50, 50, 0.9F, 1},
                               {kNaN, 0, 50, 50, 0.9F, 1},
                               {0, 0, 50, kInf, 0.9F, 1},
                               {0, 0, 50, 50, kInf, 1},
                               {0, 0, 50, 50, kNaN, 1}});
  EXPECT_TRUE(found.objects.empty());
}

TEST(YoloEndToEnd, RefusesWhatIsNoClassOrNoScore) {
  for (const std::vector<double>& row : Rows{{0, 0, 50, 50, 0.9F, 80},
                                             {0, 0, 50, 50, 0.9F, 1.5F},
                                             {0, 0, 50, 50, 0.9F, -1},
                                             {0, 0, 50, 50, 0.9F, kNaN},
                                             {0, 0, 50, 50, 16, 1}}) {
    const std::string why = refusal_of([&] { decode({row}); });
    EXPECT_TRUE(has(why, "of another kind")) << row[4] << " " << row[5];
  }
}

Answer decode_objectness(const std::vector<double>& row) {
  ModelCard card = card_of(Task::kDetect, row.size() - 5);
  card.family = Family::kYoloObjectness;
  return decoded(card, tensor_of_rows({row}));
}

TEST(YoloObjectness, IsAFactorOfEachClass) {
  const Answer found = decode_objectness({100, 100, 40, 20, 0.75, 0.25, 0.75});
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 80, 90, 120, 110);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.5625F);
  EXPECT_EQ(found.objects[0].label_id, 1U);
  EXPECT_TRUE(decode_objectness({100, 100, 40, 20, 0.75, 0.25, 0.5}).objects.empty());
}

TEST(YoloObjectness, RefusesFactorsThatAreNoProbabilities) {
  for (const std::vector<double>& row :
       Rows{{100, 100, 40, 20, 310, 0.001}, {100, 100, 40, 20, 0.6, 7}}) {
    EXPECT_TRUE(has(refusal_of([&] { decode_objectness(row); }), "no probability"));
  }
}

TEST(YoloObjectness, WhatIsNotFiniteIsNoObject) {
  for (const std::vector<double>& row : Rows{{100, 100, 40, 20, kNaN, 1},
                                             {100, 100, 40, 20, kInf, 1},
                                             {100, 100, 40, 20, 1, kNaN},
                                             {100, 100, 40, 20, 1, kInf},
                                             {kNaN, 100, 40, 20, 1, 1}}) {
    EXPECT_TRUE(decode_objectness(row).objects.empty());
  }
}

// An input of 64 x 32 has 32 cells of 8 pixels, 8 of 16, 2 of 32.
TEST(YoloX, CountsFromItsCell) {
  Rows rows(42, {0, 0, 0, 0, 0, 0});
  rows[8 + 3] = {0.5, 0.25, std::log(2), 0, 1, 0.75};         // second row, fourth column
  rows[32 + 8 + 1] = {0.5, 0.5, std::log(0.5), 0, 1, 0.625};  // second column
  ModelCard card = card_of(Task::kDetect, 1);
  card.family = Family::kYoloX;
  const Answer found = decoded(card, tensor_of_rows(rows), {}, {.size = {64, 32}}, {64, 32});
  ASSERT_EQ(found.objects.size(), 2U);
  expect_box(found.objects[0], 28 - 8, 10 - 4, 28 + 8, 10 + 4);
  expect_box(found.objects[1], 48 - 8, 0, 48 + 8, 32);
}

TEST(YoloX, SizesBeyondAllNumbersAreNone) {
  Rows rows(42, {0, 0, 0, 0, 0, 0});
  rows[0] = {0.5, 0.5, 1000, 0, 1, 1};
  ModelCard card = card_of(Task::kDetect, 1);
  card.family = Family::kYoloX;
  EXPECT_TRUE(
      decoded(card, tensor_of_rows(rows), {}, {.size = {64, 32}}, {64, 32}).objects.empty());
}

}  // namespace
}  // namespace npu::vision::yolo_end_to_end_test
