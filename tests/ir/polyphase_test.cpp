#include "ir/polyphase.hpp"

#include <gtest/gtest.h>

#include "ir/serialize.hpp"

#include "ir_files.hpp"

namespace npu::ir {
namespace {

std::optional<Polyphase> plan(const FrameLayout& frame, std::uint32_t width, std::uint32_t height,
                              std::uint32_t channels = 3) {
  Preprocess preprocess;
  preprocess.frame = frame;
  return plan_polyphase(frame, place_frame(frame, width, height, ResizeMode::kStretch),
                        color_map(preprocess, channels));
}

FrameLayout nv12(std::uint32_t width, std::uint32_t height) {
  return FrameLayout::tight(PixelFormat::kNV12, width, height);
}

TEST(Periods, LookWhereLinearScalingLooks) {
  for (const std::int64_t inputs : {1, 3, 27, 64}) {
    for (const std::int64_t results : {1, 2, 16, 27, 100}) {
      const auto period = Period::of(inputs, results);
      for (std::int64_t result = 0; result < results; ++result) {
        const double at = (static_cast<double>(result) + .5) * static_cast<double>(inputs) /
                              static_cast<double>(results) -
                          .5;
        const auto [first, share] = period.tap(result);
        EXPECT_NEAR(static_cast<double>(first) + share, at, 1e-9);
        EXPECT_GE(share, 0);
        EXPECT_LT(share, 1);
        EXPECT_GE(first, period.looks_outside() ? -1 : 0);
        EXPECT_LE(first + (share > 0 ? 1 : 0), period.looks_outside() ? inputs : inputs - 1);
      }
    }
  }
}

TEST(Polyphases, OfAFullHdFrameAreFew) {
  const auto stretched = plan(nv12(1920, 1080), 640, 640);
  ASSERT_TRUE(stretched);
  EXPECT_EQ(stretched->phases, 32);
  EXPECT_EQ(stretched->group, 16);
  const auto& luma = stretched->planes.at(0);
  EXPECT_EQ(luma.rows.inputs, 27);
  EXPECT_EQ(luma.rows.results, 16);
  EXPECT_EQ(luma.group_bytes, 48);
  EXPECT_EQ(stretched->planes.at(1).group_bytes, 48);
  const auto letterboxed = plan(nv12(1920, 1080), 640, 360);
  ASSERT_TRUE(letterboxed);
  EXPECT_EQ(letterboxed->phases, 2);
}

TEST(Polyphases, LookAtThreeGroupsWhereTheyEnlarge) {
  const auto same = plan(nv12(640, 640), 640, 640);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->planes.at(0).kernel_width, 1);
  EXPECT_EQ(same->planes.at(1).kernel_width, 3);
}

TEST(Polyphases, LeaveOutPlanesThatAGrayModelDoesNotSee) {
  const auto gray = plan(nv12(1920, 1080), 640, 640, 1);
  ASSERT_TRUE(gray);
  EXPECT_EQ(gray->planes.size(), 1U);
  EXPECT_EQ(gray->phases, 16);
}

TEST(Polyphases, HaveSmallerGroupsWhereTheyAreMany) {
  const auto many = plan(FrameLayout::tight(PixelFormat::kP010, 1920, 1080), 224, 224);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->phases, 56);
  EXPECT_EQ(many->group, 7);
  EXPECT_EQ(plan(nv12(1920, 1080), 224, 126)->group, 28);
}

TEST(Polyphases, AreNotMadeWhereTheyWouldBeMany) {
  EXPECT_FALSE(plan(nv12(1920, 1080), 640, 641));  // 641 is a prime
  EXPECT_FALSE(plan(nv12(1920, 1080), 416, 416));  // 540 rows of chroma have 104 phases
  EXPECT_FALSE(plan(nv12(1920, 1080), 641, 640));
  EXPECT_FALSE(plan(nv12(1919, 1080), 640, 640));  // half a chroma sample is outside
  EXPECT_FALSE(plan(FrameLayout::tight(PixelFormat::kYUY2, 320, 240), 640, 640));
  EXPECT_FALSE(plan(FrameLayout::tight(PixelFormat::kUYVY, 320, 240), 640, 640));
  auto cropped = nv12(1922, 1080);
  cropped.width = 1920;
  cropped.crop_left = 1;
  EXPECT_FALSE(plan(cropped, 640, 640));
  cropped.crop_left = 2;
  EXPECT_TRUE(plan(cropped, 640, 640));
}

/// The graph of a model that takes such frames.
std::string graph_with(Preprocess preprocess, const FrameLayout& frame = nv12(1920, 1080),
                       const std::vector<int>& picture = {1, 3, 640, 640}) {
  auto model = test::read_ir(test::identity_ir("f32", picture));
  preprocess.frame = frame;
  model.add_preprocess(preprocess);
  const auto buffer = serialize(model, {7, 0});
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size()};
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Both are left to processors that are slower than the matrix unit.
TEST(Polyphases, NeedNeitherInterpolateNorConvert) {
  const auto text = graph_with({});
  EXPECT_EQ(count(text, "type=\"Interpolate\""), 0U);
  EXPECT_EQ(count(text, "type=\"Convert\""), count(text, "type=\"FakeQuantize\""));
}

/// OpenVINO 2026's CPU plugin reads beyond the weights of tall filters on a single column.
TEST(Polyphases, AreMatricesWhereOneGroupIsARow) {
  const auto text =
      graph_with({}, FrameLayout::tight(PixelFormat::kRGBx, 321, 243), {1, 3, 12, 16});
  const auto filters = count(text, "type=\"Convolution\"");
  EXPECT_EQ(filters, 4U);
  EXPECT_EQ(count(text, "strides=\"1, 1\""), filters);
}

/// NPUs add Y, Cb and Cr up in f16.
TEST(Polyphases, EnlargeNoValuesBeforeTheirLimits) {
  Preprocess preprocess;
  preprocess.scale = {255};
  EXPECT_EQ(count(graph_with(preprocess), "max=\"1\""), 32U);
  preprocess.scale = {1.0F / 255};
  EXPECT_EQ(count(graph_with(preprocess), "max=\"255\""), 32U);
}

}  // namespace
}  // namespace npu::ir
