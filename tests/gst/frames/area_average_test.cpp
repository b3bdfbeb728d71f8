#include "frames/area_average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

namespace gstnpu {
namespace {

OwnFrame picture(GstVideoFormat format, guint width, guint height) {
  OwnFrame own;
  gst_video_info_set_format(&own.frame.info, format, width, height);
  own.memory.resize(own.frame.info.size);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&own.frame.info); ++p) {
    own.frame.data[p] = own.memory.data() + own.frame.info.offset[p];
  }
  return own;
}

double sample(const GstVideoFrame& frame, guint component, double column, double row) {
  const bool is_v_of_p010 =
      GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_P010_10LE && component == 2;
  const auto* at =
      (is_v_of_p010 ? static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 1)) + 2
                    : static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component))) +
      static_cast<gint>(row) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component) +
      static_cast<gint>(column) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component);
  return GST_VIDEO_FRAME_COMP_DEPTH(&frame, component) > 8 ? GST_READ_UINT16_LE(at) : *at;
}

/// The mean of an area, by 64 points each way where it has no whole samples.
double mean(const GstVideoFrame& frame, guint component, double x, double y, double width,
            double height) {
  constexpr int kPoints = 64;
  double sum = 0;
  for (int j = 0; j < kPoints; ++j) {
    for (int i = 0; i < kPoints; ++i) {
      sum += sample(frame, component, x + (i + 0.5) * width / kPoints,
                    y + (j + 0.5) * height / kPoints);
    }
  }
  return sum / (kPoints * kPoints);
}

class AreaAverage : public testing::TestWithParam<GstVideoFormat> {};

TEST_P(AreaAverage, IsTheMeanOfWhatEachSampleCovers) {
  std::minstd_rand random(5);
  OwnFrame from = picture(GetParam(), 44, 30);
  for (guint8& byte : from.memory) byte = static_cast<guint8>(random());
  if (GetParam() == GST_VIDEO_FORMAT_P010_10LE) {
    for (std::size_t i = 0; i < from.memory.size(); i += 2) from.memory[i] &= 0xC0;
  }
  constexpr guint kX = 4, kY = 2, kWidth = 36, kHeight = 24, kToWidth = 10, kToHeight = 8;
  const OwnFrame to = average_areas(from.frame, kX, kY, kWidth, kHeight, kToWidth, kToHeight);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&from.frame); ++c) {
    const bool is_wide = GST_VIDEO_FRAME_COMP_DEPTH(&from.frame, c) > 8;
    const gint unit = 1 << GST_VIDEO_FORMAT_INFO_SHIFT(from.frame.info.finfo, c);
    const double columns = GST_VIDEO_FRAME_COMP_WIDTH(&to.frame, c);
    const double rows = GST_VIDEO_FRAME_COMP_HEIGHT(&to.frame, c);
    const double per_x = 44.0 / GST_VIDEO_FRAME_COMP_WIDTH(&from.frame, c);
    const double per_y = 30.0 / GST_VIDEO_FRAME_COMP_HEIGHT(&from.frame, c);
    const double wide = kWidth / per_x / columns, high = kHeight / per_y / rows;
    for (double row = 0; row < rows; ++row) {
      for (double column = 0; column < columns; ++column) {
        const double wanted =
            mean(from.frame, c, kX / per_x + column * wide, kY / per_y + row * high, wide, high);
        const double found = sample(to.frame, c, column, row);
        // Half a unit of rounding, and the points of the reference.
        EXPECT_NEAR(found, wanted, is_wide ? unit + 700 : 3) << c << " " << column << " " << row;
        EXPECT_EQ(static_cast<gint>(found) % (is_wide ? unit : 1), 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AreaAverage,
    testing::Values(GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_ARGB,
                    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_NV12,
                    GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_NV16, GST_VIDEO_FORMAT_I420,
                    GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY,
                    GST_VIDEO_FORMAT_P010_10LE),
    [](const auto& row) { return std::string(gst_video_format_to_string(row.param)); });

TEST(AreaAverageOf, AFlatPictureIsFlatAtAnySize) {
  OwnFrame from = picture(GST_VIDEO_FORMAT_RGB, 301, 203);
  std::fill(from.memory.begin(), from.memory.end(), guint8{201});
  for (guint size = 1; size <= 203; ++size) {
    const OwnFrame to = average_areas(from.frame, 0, 0, 301, 203, size, size);
    for (guint row = 0; row < size; ++row) {
      for (guint column = 0; column < size; ++column) {
        ASSERT_EQ(sample(to.frame, 1, column, row), 201) << size;
      }
    }
  }
}

// Some producers repeat the upper bits in those below the value.
TEST(AreaAverageOf, WhiteStaysWhiteWhateverTheUnusedBits) {
  OwnFrame from = picture(GST_VIDEO_FORMAT_P010_10LE, 32, 32);
  std::fill(from.memory.begin(), from.memory.end(), guint8{255});
  const OwnFrame to = average_areas(from.frame, 0, 0, 32, 32, 10, 10);
  guint16 first = 0;
  std::memcpy(&first, to.memory.data(), sizeof first);
  EXPECT_EQ(first, 1023U << 6);
}

}  // namespace
}  // namespace gstnpu
