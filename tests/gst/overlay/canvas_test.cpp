#include "overlay/canvas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <npucore/error.hpp>

#include "support/expect.hpp"

namespace gstnpu::canvas_test {
namespace {

constexpr Color kOrange{255, 145, 0};

struct Unmap {
  void operator()(GstVideoFrame* frame) const {
    GstBuffer* buffer = frame->buffer;
    gst_video_frame_unmap(frame);
    gst_buffer_unref(buffer);
    delete frame;
  }
};
using Frame = std::unique_ptr<GstVideoFrame, Unmap>;

Frame frame_of(const GstVideoInfo& info) {
  Frame frame(new GstVideoFrame);
  EXPECT_TRUE(gst_video_frame_map(
      frame.get(), &info, gst_buffer_new_allocate(nullptr, info.size, nullptr), GST_MAP_READWRITE));
  return frame;
}

GstVideoInfo info_of(GstVideoFormat format, guint width, guint height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, width, height);
  return info;
}

/// All black.
Frame black(const GstVideoInfo& info) {
  Frame frame = frame_of(info);
  Canvas(info).blend({.width = info.width, .height = info.height}, frame.get());
  return frame;
}

/// As GStreamer converts it.
Frame in_rgb(const GstVideoFrame& from) {
  GstVideoInfo info = info_of(GST_VIDEO_FORMAT_RGB, static_cast<guint>(from.info.width),
                              static_cast<guint>(from.info.height));
  Frame to = frame_of(info);
  GstVideoConverter* converter =
      gst_video_converter_new(const_cast<GstVideoInfo*>(&from.info), &info, nullptr);
  gst_video_converter_frame(converter, &from, to.get());
  gst_video_converter_free(converter);
  return to;
}

std::array<int, 3> pixel(const GstVideoFrame& frame, int x, int y) {
  const auto* at = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                   y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 3 * x;
  return {at[0], at[1], at[2]};
}

bool is_near(const std::array<int, 3>& pixel, const Color& color, int most) {
  return std::abs(pixel[0] - color.red) <= most && std::abs(pixel[1] - color.green) <= most &&
         std::abs(pixel[2] - color.blue) <= most;
}

class EachFormat : public testing::TestWithParam<GstVideoFormat> {};

TEST_P(EachFormat, HasTheColorInsideAndNothingOutside) {
  const GstVideoInfo info = info_of(GetParam(), 33, 17);
  const Frame frame = black(info);
  Canvas(info).blend({.x = 8, .y = 4, .width = 12, .height = 8, .color = kOrange}, frame.get());
  const Frame rgb = in_rgb(*frame);
  const bool has_color = info.finfo->format != GST_VIDEO_FORMAT_GRAY8;
  if (has_color) {
    EXPECT_TRUE(is_near(pixel(*rgb, 12, 8), kOrange, 6));
    EXPECT_TRUE(is_near(pixel(*rgb, 16, 6), kOrange, 6));
  }
  EXPECT_GT(pixel(*rgb, 12, 8)[0], 100);
  for (const auto& [x, y] : {std::pair{2, 2}, {32, 16}, {12, 1}, {12, 15}, {24, 8}, {4, 8}}) {
    EXPECT_TRUE(is_near(pixel(*rgb, x, y), {0, 0, 0}, 3)) << x << "," << y;
  }
}

TEST_P(EachFormat, TakesSpritesThatStandOutOfTheFrame) {
  const GstVideoInfo info = info_of(GetParam(), 15, 9);
  const Frame frame = black(info);
  Canvas canvas(info);
  const std::vector<guint8> coverage(std::size_t{400} * 400, 255);
  for (const int place : {-395, -7, 0, 5, 14, 15, 400}) {
    canvas.blend({.x = place,
                  .y = place,
                  .width = 400,
                  .height = 400,
                  .color = kOrange,
                  .coverage = coverage.data(),
                  .coverage_stride = 400},
                 frame.get());
    canvas.blend({.x = place, .y = -3, .width = 4, .height = 0, .color = kOrange}, frame.get());
  }
  const Frame rgb = in_rgb(*frame);
  EXPECT_GT(pixel(*rgb, 8, 4)[0], 100);
}

// Each pixel has its own color of the palette; between them the frame is as it was.
TEST_P(EachFormat, HasTheColorsOfAPalette) {
  const GstVideoInfo info = info_of(GetParam(), 67, 19);
  const Frame frame = black(info), plain = black(info);
  const std::array<Color, 2> palette{kOrange, Color{64, 196, 255}};
  std::vector<guint8> numbers(std::size_t{64} * 16);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::array<guint8, 4>{1, 0, 2, 2}[i % 64 / 16];
  }
  const Sprite sprite{.x = 4,
                      .y = 4,
                      .width = 64,
                      .height = 16,
                      .coverage = numbers.data(),
                      .coverage_stride = 64,
                      .palette = palette};
  Canvas(info).blend(sprite, frame.get());
  const Frame rgb = in_rgb(*frame);
  const auto is_like = [&](int x, int y, const Color& color) {
    return info.finfo->format == GST_VIDEO_FORMAT_GRAY8 ? pixel(*rgb, x, y)[0] > 100
                                                        : is_near(pixel(*rgb, x, y), color, 6);
  };
  EXPECT_TRUE(is_like(12, 12, palette[0]));
  EXPECT_TRUE(is_like(44, 12, palette[1]));
  EXPECT_TRUE(is_like(62, 16, palette[1]));
  for (const auto& [x, y] : {std::pair{0, 0}, {28, 12}, {12, 0}, {0, 12}}) {
    EXPECT_TRUE(is_near(pixel(*rgb, x, y), {0, 0, 0}, 3)) << x << "," << y;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EachFormat,
    testing::Values(GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_NV16,
                    GST_VIDEO_FORMAT_NV61, GST_VIDEO_FORMAT_NV24, GST_VIDEO_FORMAT_I420,
                    GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y41B,
                    GST_VIDEO_FORMAT_YUV9, GST_VIDEO_FORMAT_YVU9, GST_VIDEO_FORMAT_Y444,
                    GST_VIDEO_FORMAT_A420, GST_VIDEO_FORMAT_AV12, GST_VIDEO_FORMAT_YUY2,
                    GST_VIDEO_FORMAT_YVYU, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_AYUV,
                    GST_VIDEO_FORMAT_VUYA, GST_VIDEO_FORMAT_v308, GST_VIDEO_FORMAT_IYU2,
                    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGBx,
                    GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_xBGR,
                    GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_ARGB,
                    GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_GBR, GST_VIDEO_FORMAT_GBRA,
                    GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_BGRP, GST_VIDEO_FORMAT_GRAY8),
    [](const auto& row) { return std::string(gst_video_format_to_string(row.param)); });

TEST(Canvas, APaletteIsTranslucent) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_RGB, 40, 2);
  const Frame frame = black(info);
  const std::array<Color, 2> palette{Color{255, 0, 0}, Color{0, 0, 200}};
  std::vector<guint8> numbers(80, 1);
  numbers[3] = 2;
  Canvas(info).blend({.width = 40,
                      .height = 2,
                      .opacity = 102,
                      .coverage = numbers.data(),
                      .coverage_stride = 40,
                      .palette = palette},
                     frame.get());
  EXPECT_EQ(pixel(*frame, 0, 0), (std::array{102, 0, 0}));
  EXPECT_EQ(pixel(*frame, 3, 0), (std::array{0, 0, 80}));
  EXPECT_EQ(pixel(*frame, 39, 1), (std::array{102, 0, 0}));
}

// Sprites begin and end anywhere; a palette's is cut as any other.
TEST(Canvas, APaletteMayStandOutOfTheFrame) {
  const std::array<Color, 1> palette{kOrange};
  const std::vector<guint8> numbers(std::size_t{50} * 50, 1);
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_YUV9,
        GST_VIDEO_FORMAT_RGB}) {
    const GstVideoInfo info = info_of(format, 15, 9);
    const Frame frame = black(info);
    for (const int place : {-49, -33, -1, 0, 1, 7, 14}) {
      Canvas(info).blend({.x = place,
                          .y = place / 2,
                          .width = 50,
                          .height = 50,
                          .coverage = numbers.data(),
                          .coverage_stride = 50,
                          .palette = palette},
                         frame.get());
    }
    EXPECT_TRUE(is_near(pixel(*in_rgb(*frame), 8, 4), kOrange, 6))
        << gst_video_format_to_string(format);
  }
}

TEST(Canvas, MixesByCoverageAndOpacity) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_RGB, 4, 1);
  const Frame frame = black(info);
  const std::array<guint8, 4> coverage{0, 128, 255, 64};
  Canvas(info).blend({.width = 4,
                      .height = 1,
                      .color = {255, 255, 255},
                      .opacity = 128,
                      .coverage = coverage.data(),
                      .coverage_stride = 4},
                     frame.get());
  const std::array<int, 4> wanted{0, 64, 128, 32};
  for (int x = 0; x < 4; ++x) {
    EXPECT_NEAR(pixel(*frame, x, 0)[0], wanted[static_cast<std::size_t>(x)], 1) << x;
  }
}

// Four pixels share one value of chroma: those outside the sprite count.
TEST(Canvas, MixesChromaByTheShareOfItsPixels) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_I420, 2, 2);
  const Frame whole = black(info), one = black(info);
  Canvas canvas(info);
  canvas.blend({.width = 2, .height = 2, .color = {0, 0, 255}}, whole.get());
  canvas.blend({.width = 1, .height = 1, .color = {0, 0, 255}}, one.get());
  const auto blue = [](const Frame& frame) {
    return *static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(frame.get(), 1));
  };
  EXPECT_NEAR(blue(one) - 128, (blue(whole) - 128) / 4.0, 1);
}

// A decoder's frames are larger than its caps say; its GstVideoMeta tells.
TEST(Canvas, DrawsOnFramesThatAreLargerThanTheirCaps) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 16, 8);
  const GstVideoInfo larger = info_of(GST_VIDEO_FORMAT_GRAY8, 20, 12);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, larger.size, nullptr);
  gst_buffer_memset(buffer, 0, 0, larger.size);
  gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 20, 12);
  Frame frame(new GstVideoFrame);
  ASSERT_TRUE(gst_video_frame_map(frame.get(), &info, buffer, GST_MAP_READWRITE));
  const std::vector<guint8> coverage(std::size_t{40} * 40, 255);
  Canvas(info).blend({.width = 40,
                      .height = 40,
                      .color = {255, 255, 255},
                      .coverage = coverage.data(),
                      .coverage_stride = 40},
                     frame.get());
  const auto* pixels = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(frame.get(), 0));
  EXPECT_EQ(pixels[0], pixels[7 * GST_VIDEO_FRAME_PLANE_STRIDE(frame.get(), 0) + 15]);
  EXPECT_GT(pixels[0], 200);
}

TEST(Canvas, DoesNotTakeFormatsWhosePlacesAreNotKnown) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_IYU1, GST_VIDEO_FORMAT_VYUY}) {
    EXPECT_FALSE(Canvas::draws_on(*gst_video_format_get_info(format)));
  }
}

TEST(Canvas, RefusesFormatsByName) {
  EXPECT_TRUE(
      has(thrown_by([&] { const Canvas canvas(info_of(GST_VIDEO_FORMAT_P010_10LE, 16, 16)); }),
          "P010_10LE"));
}

}  // namespace
}  // namespace gstnpu::canvas_test
