#include "decode/boxes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace npu::vision {
namespace {

constexpr FrameSize kFrame{200, 100};
constexpr npu::FrameGeometry kAsItIs{.model_width = 200,
                                     .model_height = 100,
                                     .offset_x = 0,
                                     .offset_y = 0,
                                     .scale_x = 1,
                                     .scale_y = 1};

Answer given(const Boxes& boxes) {
  Answer answer;
  boxes.give(&answer);
  return answer;
}

TEST(Boxes, AreMappedThroughTheBordersIntoTheFrame) {
  Boxes boxes;
  boxes.begin({.model_width = 100,
               .model_height = 100,
               .offset_x = 0,
               .offset_y = 25,
               .scale_x = 2,
               .scale_y = 2},
              kFrame);
  boxes.add({10, 30, 20, 40}, 0.5F, 3, 0);
  boxes.keep_best(10);
  const Answer answer = given(boxes);
  ASSERT_EQ(answer.objects.size(), 1U);
  const Object& object = answer.objects.front();
  EXPECT_EQ(object.left, 20);
  EXPECT_EQ(object.top, 10);
  EXPECT_EQ(object.right, 40);
  EXPECT_EQ(object.bottom, 30);
  EXPECT_EQ(object.label_id, 3U);
}

TEST(Boxes, StayInsideTheFrame) {
  Boxes boxes;
  boxes.begin(kAsItIs, kFrame);
  boxes.add({-50, -50, 500, 500}, 0.5F, 0, 0);
  boxes.keep_best(10);
  const Object object = given(boxes).objects.at(0);
  EXPECT_EQ(object.left, 0);
  EXPECT_EQ(object.top, 0);
  EXPECT_EQ(object.right, 200);
  EXPECT_EQ(object.bottom, 100);
}

TEST(Boxes, ThatAreOutsideEmptyOrNotFiniteAreNone) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Boxes boxes;
  boxes.begin(kAsItIs, kFrame);
  for (const Edges& edges : {Edges{-20, 10, -10, 20}, Edges{10, 10, 10, 20}, Edges{20, 10, 10, 20},
                             Edges{kNaN, 10, 20, 20}, Edges{10, 10, kInf, 20}}) {
    boxes.add(edges, 0.5F, 0, 0);
  }
  boxes.keep_best(10);
  EXPECT_TRUE(boxes.kept().empty());
}

TEST(Boxes, OfOneClassThatOverlapAreOne) {
  for (const bool is_agnostic : {false, true}) {
    Boxes boxes;
    boxes.begin(kAsItIs, kFrame);
    boxes.add({10, 10, 30, 30}, 0.5F, 1, 0);
    boxes.add({11, 10, 31, 30}, 0.9F, 1, 1);  // the better one
    boxes.add({10, 10, 30, 30}, 0.4F, 2, 2);  // of another class
    boxes.add({60, 10, 80, 30}, 0.3F, 1, 3);  // elsewhere
    boxes.suppress(0.5F, 10, is_agnostic);
    const Answer answer = given(boxes);
    ASSERT_EQ(answer.objects.size(), is_agnostic ? 2U : 3U);
    EXPECT_EQ(answer.objects.at(0).confidence, 0.9F);
    EXPECT_EQ(answer.objects.back().confidence, 0.3F);
  }
}

TEST(Boxes, OfEqualScoreKeepTheTensorsOrderAndTheLimit) {
  Boxes boxes;
  boxes.begin(kAsItIs, kFrame);
  for (std::size_t i = 0; i < 5; ++i) {
    const double left = 10.0 + 20.0 * static_cast<double>(i);
    boxes.add({left, 10, left + 10, 20}, 0.5F, 0, i);
  }
  boxes.suppress(0.5F, 3);
  const Answer answer = given(boxes);
  ASSERT_EQ(answer.objects.size(), 3U);
  EXPECT_EQ(answer.objects.at(0).left, 10);
  EXPECT_EQ(answer.objects.at(2).left, 50);
}

}  // namespace
}  // namespace npu::vision
