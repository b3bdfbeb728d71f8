#include "frames/frame_description.hpp"

#include <gtest/gtest.h>

#include <string>

#include <npucore/error.hpp>

#include "common/refs.hpp"
#include "support/expect.hpp"

namespace gstnpu {
namespace {

GstVideoInfo info_of(GstVideoFormat format, guint width, guint height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, width, height);
  return info;
}

FrameDescription describe(const GstVideoInfo& info) {
  const BufferRef buffer(gst_buffer_new());
  return describe_frame(info, buffer.get());
}

struct FormatRow {
  const char* name;
  GstVideoFormat format;
  guint width, height;
  std::vector<npu::PlaneLayout> planes;  // stride, rows
  std::vector<gsize> row_bytes;
};

class Formats : public testing::TestWithParam<FormatRow> {};

TEST_P(Formats, AreDescribedAsGStreamerLaysThemOut) {
  const FormatRow& row = GetParam();
  const FrameDescription frame = describe(info_of(row.format, row.width, row.height));
  EXPECT_EQ(frame.layout.width, row.width);
  EXPECT_EQ(frame.layout.height, row.height);
  EXPECT_EQ(frame.layout.planes, row.planes);
  ASSERT_EQ(frame.planes.size(), row.row_bytes.size());
  for (std::size_t p = 0; p < row.row_bytes.size(); ++p) {
    EXPECT_EQ(frame.planes[p].row_bytes, row.row_bytes[p]);
  }
  EXPECT_TRUE(frame.is_readable_in_place);
  EXPECT_EQ(default_layout(frame.layout), frame.layout);
}

INSTANTIATE_TEST_SUITE_P(
    All, Formats,
    testing::Values(
        FormatRow{"NV12", GST_VIDEO_FORMAT_NV12, 320, 240, {{320, 240}, {320, 120}}, {320, 320}},
        FormatRow{
            "NV12_odd", GST_VIDEO_FORMAT_NV12, 301, 241, {{304, 241}, {304, 121}}, {301, 302}},
        FormatRow{"I420_odd",
                  GST_VIDEO_FORMAT_I420,
                  301,
                  241,
                  {{304, 241}, {152, 121}, {152, 121}},
                  {301, 151, 151}},
        FormatRow{
            "NV21_odd", GST_VIDEO_FORMAT_NV21, 301, 241, {{304, 241}, {304, 121}}, {301, 302}},
        FormatRow{"YV12_odd",
                  GST_VIDEO_FORMAT_YV12,
                  301,
                  241,
                  {{304, 241}, {152, 121}, {152, 121}},
                  {301, 151, 151}},
        FormatRow{
            "NV16_odd", GST_VIDEO_FORMAT_NV16, 301, 241, {{304, 241}, {304, 241}}, {301, 302}},
        FormatRow{"YUY2", GST_VIDEO_FORMAT_YUY2, 300, 7, {{600, 7}}, {600}},
        FormatRow{"YUY2_odd", GST_VIDEO_FORMAT_YUY2, 301, 7, {{604, 7}}, {604}},
        FormatRow{"UYVY_odd", GST_VIDEO_FORMAT_UYVY, 301, 7, {{604, 7}}, {604}},
        FormatRow{
            "P010_odd", GST_VIDEO_FORMAT_P010_10LE, 301, 241, {{604, 241}, {604, 121}}, {602, 604}},
        FormatRow{"RGB", GST_VIDEO_FORMAT_RGB, 301, 7, {{904, 7}}, {903}},
        FormatRow{"BGR", GST_VIDEO_FORMAT_BGR, 4, 4, {{12, 4}}, {12}},
        FormatRow{"RGBx", GST_VIDEO_FORMAT_RGBx, 5, 3, {{20, 3}}, {20}},
        FormatRow{"BGRx", GST_VIDEO_FORMAT_BGRx, 5, 3, {{20, 3}}, {20}},
        FormatRow{"ARGB", GST_VIDEO_FORMAT_ARGB, 5, 3, {{20, 3}}, {20}},
        FormatRow{"ABGR", GST_VIDEO_FORMAT_ABGR, 5, 3, {{20, 3}}, {20}},
        FormatRow{"GRAY8", GST_VIDEO_FORMAT_GRAY8, 5, 3, {{8, 3}}, {5}},
        FormatRow{"GRAY16_LE", GST_VIDEO_FORMAT_GRAY16_LE, 5, 3, {{12, 3}}, {10}}),
    by_name);

TEST(ReadableFormats, AreAllOfNpucoreByTheirNames) {
  for (const npu::PixelFormat format : npu::pixel_formats()) {
    EXPECT_STREQ(gst_video_format_to_string(to_video_format(format)), npu::to_string(format));
  }
}

TEST(FrameDescription, TakesStridesAndOffsetsFromTheVideoMeta) {
  const BufferRef buffer(gst_buffer_new());
  gsize offsets[GST_VIDEO_MAX_PLANES] = {64, 384 * 256};
  gint strides[GST_VIDEO_MAX_PLANES] = {384, 512};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                                 304, 304, 2, offsets, strides);
  const FrameDescription frame =
      describe_frame(info_of(GST_VIDEO_FORMAT_NV12, 300, 300), buffer.get());
  EXPECT_EQ(frame.layout.width, 300u);
  EXPECT_EQ(frame.layout.planes, (std::vector<npu::PlaneLayout>{{384, 300}, {512, 150}}));
  EXPECT_EQ(frame.planes[0].offset, 64u);
  EXPECT_EQ(frame.planes[1].offset, 384u * 256u);
}

TEST(FrameDescription, SkipsCroppedRowsByTheOffsetAndColumnsInTheGraph) {
  const BufferRef buffer(gst_buffer_new());
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 16;
  crop->y = 10;
  crop->width = 100;
  crop->height = 50;
  const FrameDescription frame =
      describe_frame(info_of(GST_VIDEO_FORMAT_NV12, 320, 240), buffer.get());
  EXPECT_EQ(frame.layout.width, 100u);
  EXPECT_EQ(frame.layout.height, 50u);
  EXPECT_EQ(frame.layout.crop_left, 16u);
  EXPECT_EQ(frame.layout.crop_top, 0u);
  EXPECT_EQ(frame.planes[0].offset, 10u * 320u);
  EXPECT_EQ(frame.planes[0].rows, 50u);
  EXPECT_EQ(frame.planes[1].offset, 320u * 240u + 5u * 320u);
  EXPECT_EQ(frame.planes[1].crop_left_bytes, 16u);
  EXPECT_EQ(frame.planes[1].span_bytes(), 24u * 320u + 16u + 100u);
}

// Its chroma samples are two columns wide, but one row high.
TEST(FrameDescription, SkipsAnyNumberOfRowsOfNV16ByTheOffset) {
  const BufferRef buffer(gst_buffer_new());
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->y = 11;
  crop->width = 100;
  crop->height = 50;
  const FrameDescription frame =
      describe_frame(info_of(GST_VIDEO_FORMAT_NV16, 320, 240), buffer.get());
  EXPECT_EQ(frame.layout.crop_top, 0u);
  EXPECT_EQ(frame.planes[1].offset, 320u * 240u + 11u * 320u);
  EXPECT_EQ(frame.planes[1].rows, 50u);
}

TEST(FrameDescription, RefusesACropOutsideTheFrame) {
  const BufferRef buffer(gst_buffer_new());
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 400;
  crop->y = 0;
  crop->width = crop->height = 10;
  EXPECT_THROW(describe_frame(info_of(GST_VIDEO_FORMAT_RGB, 320, 240), buffer.get()), npu::Error);
}

TEST(FrameDescription, CannotReadUpsideDownRowsInPlace) {
  const BufferRef buffer(gst_buffer_new());
  gsize offsets[GST_VIDEO_MAX_PLANES] = {960 * 239};
  gint strides[GST_VIDEO_MAX_PLANES] = {-960};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 320,
                                 240, 1, offsets, strides);
  EXPECT_FALSE(
      describe_frame(info_of(GST_VIDEO_FORMAT_RGB, 320, 240), buffer.get()).is_readable_in_place);
}

struct ColorRow {
  const char* name;
  GstVideoFormat format;
  guint height;
  const char* colorimetry;  // null: none in the caps
  npu::ColorMatrix matrix;
  npu::ColorRange range;
};

class Colors : public testing::TestWithParam<ColorRow> {};

TEST_P(Colors, FollowTheCaps) {
  const ColorRow& row = GetParam();
  GstVideoInfo info = info_of(row.format, 64, row.height);
  if (row.colorimetry) {
    ASSERT_TRUE(gst_video_colorimetry_from_string(&info.colorimetry, row.colorimetry));
  }
  EXPECT_EQ(color_matrix_of(info), row.matrix);
  EXPECT_EQ(color_range_of(info), row.range);
}

INSTANTIATE_TEST_SUITE_P(
    All, Colors,
    testing::Values(ColorRow{"small_is_601", GST_VIDEO_FORMAT_NV12, 480, nullptr,
                             npu::ColorMatrix::kBT601, npu::ColorRange::kLimited},
                    ColorRow{"hd_is_709", GST_VIDEO_FORMAT_NV12, 720, nullptr,
                             npu::ColorMatrix::kBT709, npu::ColorRange::kLimited},
                    ColorRow{"named_709", GST_VIDEO_FORMAT_I420, 480, "bt709",
                             npu::ColorMatrix::kBT709, npu::ColorRange::kLimited},
                    ColorRow{"named_2020", GST_VIDEO_FORMAT_I420, 480, "bt2020",
                             npu::ColorMatrix::kBT2020, npu::ColorRange::kLimited},
                    ColorRow{"jpeg_is_full", GST_VIDEO_FORMAT_I420, 1080, "1:4:0:0",
                             npu::ColorMatrix::kBT601, npu::ColorRange::kFull},
                    ColorRow{"unknown_follows_size", GST_VIDEO_FORMAT_I420, 720, "0:0:0:0",
                             npu::ColorMatrix::kBT709, npu::ColorRange::kLimited},
                    ColorRow{"rgb_is_one_key", GST_VIDEO_FORMAT_RGB, 720, nullptr,
                             npu::ColorMatrix::kBT601, npu::ColorRange::kLimited}),
    by_name);

}  // namespace
}  // namespace gstnpu
