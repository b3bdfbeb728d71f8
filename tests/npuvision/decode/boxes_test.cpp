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

/// A letterbox's border of 50 rows is above the frame.
constexpr npu::FrameGeometry kLetterboxed{.model_width = 200,
                                          .model_height = 200,
                                          .offset_x = 0,
                                          .offset_y = 50,
                                          .scale_x = 1,
                                          .scale_y = 1};

TEST(Boxes, InALetterboxesBorderSuppressOthersAndTakePlaces) {
  const auto kept = [](auto&& choose) {
    Boxes boxes;
    boxes.begin(kLetterboxed, kFrame);
    boxes.add({10, 0, 30, 50}, 0.9F, 1, 0);  // in the border
    boxes.add({10, 2, 30, 52}, 0.8F, 1, 1);  // nearly the same
    boxes.add({100, 60, 130, 90}, 0.7F, 1, 2);
    choose(boxes);
    return given(boxes).objects.size();
  };
  EXPECT_EQ(kept([](Boxes& boxes) { boxes.suppress(0.5F, 10); }), 1U);
  EXPECT_EQ(kept([](Boxes& boxes) { boxes.keep_best(2); }), 1U);
}

}  // namespace
}  // namespace npu::vision
