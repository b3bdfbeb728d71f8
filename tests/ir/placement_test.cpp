#include <gtest/gtest.h>

#include <npucore/frame.hpp>

namespace npu {
namespace {

FrameGeometry placed(ResizeMode mode, std::uint32_t width, std::uint32_t height,
                     std::uint32_t model_width, std::uint32_t model_height) {
  Preprocess scaling{FrameLayout::tight(PixelFormat::kRGB, width, height)};
  scaling.resize = mode;
  return geometry_of(scaling, model_width, model_height);
}

TEST(GeometryOf, StretchesEachSideByItself) {
  const auto geometry = placed(ResizeMode::kStretch, 640, 360, 320, 320);
  EXPECT_EQ(geometry.model_width, 320U);
  EXPECT_EQ(geometry.model_height, 320U);
  EXPECT_DOUBLE_EQ(geometry.offset_x, 0);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 0);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 2);
  EXPECT_DOUBLE_EQ(geometry.scale_y, 1.125);
}

TEST(GeometryOf, LetterboxHasWholePixelsOfBorder) {
  // 101 of 640 rows scale to 40.4 of 256: 40 rows, and 108 above and below.
  const auto geometry = placed(ResizeMode::kLetterbox, 640, 101, 256, 256);
  EXPECT_DOUBLE_EQ(geometry.offset_x, 0);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 108);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 2.5);
  EXPECT_DOUBLE_EQ(geometry.scale_y, 101. / 40);
}

TEST(GeometryOf, FittedFramesLieInTheUpperLeft) {
  const auto geometry = placed(ResizeMode::kFitToWindow, 360, 640, 256, 256);
  EXPECT_DOUBLE_EQ(geometry.offset_x, 0);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 0);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 2.5);
  EXPECT_DOUBLE_EQ(geometry.scale_y, 2.5);
}

TEST(GeometryOf, CroppedFramesBeginOutsideTheModelsPicture) {
  // The middle 360 columns of 640 become 180: 140 more, 70 of the model's, lie left of them.
  const auto geometry = placed(ResizeMode::kCrop, 640, 360, 180, 180);
  EXPECT_DOUBLE_EQ(geometry.offset_x, -70);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 0);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 2);
  EXPECT_DOUBLE_EQ(geometry.scale_y, 2);
}

}  // namespace
}  // namespace npu
