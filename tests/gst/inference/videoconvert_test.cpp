// Compares a model's input from npuinfer with the output of GStreamer's own converter
// (videoconvertscale) for the same frames: an independent reading of colorimetry, formats and
// scaling.
//
// Known differences:
// - The converter computes on 8-bit samples with whole numbers and cuts off what is left, npuinfer
//   from the frame to the model in fp16. So its values are up to a step or so lower on average
//   where it has a matrix to apply, and a few steps off at most; of P010 it computes with 16 bits.
// - Its "linear" averages when it shrinks, npuinfer interpolates: no frame here is larger than the
//   model. When it enlarges it interpolates chroma twice, npuinfer once: only RGB is enlarged.
// - It places chroma samples as chroma-site says, npuinfer always in the middle: frames say "jpeg".
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "element_harness.hpp"

namespace gstnpu::test::videoconvert_test {
namespace {

constexpr int kModelWidth = 24, kModelHeight = 18, kChannels = 3;

struct Source : Named {
  const char* format;
  const char* colorimetry;  // range:matrix:transfer:primaries, by GStreamer's numbers
  int width, height;
  double most_steps, most_on_average;
};

constexpr double kRounded = 0.5, kRoundedOnAverage = 0.1;  // of steps of 8 bits
constexpr double kCutOff = 4.5, kCutOffOnAverage = 1.5;

GstVideoInfo info_of(const Source& source) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(source.format),
                            static_cast<guint>(source.width), static_cast<guint>(source.height));
  if (source.colorimetry) {
    gst_video_colorimetry_from_string(&info.colorimetry, source.colorimetry);
  }
  info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  return info;
}

/// Random samples that stay inside the limits of video range, where all converters clip alike.
BufferRef noise(const GstVideoInfo& info) {
  BufferRef frame(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  GstMapInfo map;
  gst_buffer_map(frame.get(), &map, GST_MAP_WRITE);
  std::mt19937 random(7);
  const bool is_p010 = GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_P010_10LE;
  for (gsize at = 0; at < map.size; ++at) {
    const auto sample = static_cast<guint8>(60 + random() % 120);
    map.data[at] = is_p010 && at % 2 == 0 ? 0 : sample;
  }
  gst_buffer_unmap(frame.get(), &map);
  return frame;
}

/// The same frame as the model's pixels, plane by plane, in steps of 8 bits.
std::vector<double> converted(const GstVideoInfo& from, GstBuffer* frame) {
  GstVideoInfo to;
  gst_video_info_set_format(&to, GST_VIDEO_FORMAT_ARGB64, kModelWidth, kModelHeight);
  GstStructure* options = gst_structure_new(
      "options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_VIDEO_RESAMPLER_METHOD,
      GST_VIDEO_RESAMPLER_METHOD_LINEAR, GST_VIDEO_CONVERTER_OPT_CHROMA_RESAMPLER_METHOD,
      GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR,
      GST_VIDEO_CONVERTER_OPT_DITHER_METHOD, GST_TYPE_VIDEO_DITHER_METHOD, GST_VIDEO_DITHER_NONE,
      nullptr);
  GstVideoConverter* converter = gst_video_converter_new(&from, &to, options);
  const BufferRef out(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&to), nullptr));
  GstVideoFrame source, target;
  gst_video_frame_map(&source, &from, frame, GST_MAP_READ);
  gst_video_frame_map(&target, &to, out.get(), GST_MAP_WRITE);
  gst_video_converter_frame(converter, &source, &target);
  std::vector<double> pixels;
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int y = 0; y < kModelHeight; ++y) {
      const auto* row = reinterpret_cast<const guint16*>(
          static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&target, 0)) +
          y * GST_VIDEO_FRAME_PLANE_STRIDE(&target, 0));
      for (int x = 0; x < kModelWidth; ++x) pixels.push_back(row[4 * x + 1 + channel] / 257.0);
    }
  }
  gst_video_frame_unmap(&target);
  gst_video_frame_unmap(&source);
  gst_video_converter_free(converter);
  return pixels;
}

class Videoconvert : public testing::TestWithParam<Source> {
 protected:
  std::vector<float> inferred(const GstVideoInfo& info, BufferRef frame) {
    const std::string model =
        dir_.write("pixels.xml", pixels_ir(kModelHeight, kModelWidth)).string();
    ElementHarness harness("npuinfer", [&](GstElement* element) {
      g_object_set(element, "model", model.c_str(), "device", "software", nullptr);
    });
    GstCaps* caps = gst_video_info_to_caps(&info);
    gchar* text = gst_caps_to_string(caps);
    harness.set_caps(text);
    g_free(text);
    gst_caps_unref(caps);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    return out ? first_tensor(out.get()) : std::vector<float>();
  }
  TempDir dir_;
};

TEST_P(Videoconvert, SeesTheSamePixels) {
  const GstVideoInfo info = info_of(GetParam());
  const BufferRef frame = noise(info);
  const std::vector<double> wanted = converted(info, frame.get());
  const std::vector<float> got = inferred(info, BufferRef(gst_buffer_copy_deep(frame.get())));
  ASSERT_EQ(got.size(), wanted.size());
  double most = 0, sum = 0;
  for (std::size_t at = 0; at < got.size(); ++at) {
    const double more = static_cast<double>(got[at]) - wanted[at];
    most = std::max(most, std::abs(more));
    sum += more;
  }
  const double average = std::abs(sum) / static_cast<double>(got.size());
  EXPECT_LE(most, GetParam().most_steps);
  EXPECT_LE(average, GetParam().most_on_average);
}

constexpr const char *k601 = "2:4:5:4", *k601Full = "1:4:0:0", *k709 = "2:3:5:1",
                     *k709Full = "1:3:5:1", *k2020 = "2:6:13:7";

INSTANTIATE_TEST_SUITE_P(
    SameSize, Videoconvert,
    testing::Values(Source{"NV12_601", "NV12", k601, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV12_601_full", "NV12", k601Full, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV12_709", "NV12", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV12_709_full", "NV12", k709Full, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV12_2020", "NV12", k2020, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV21_709", "NV21", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"I420_601", "I420", k601, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"YV12_709", "YV12", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"NV16_709", "NV16", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"YUY2_709", "YUY2", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"UYVY_709", "UYVY", k709, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"GRAY8", "GRAY8", k601Full, 24, 18, kCutOff, kCutOffOnAverage},
                    Source{"GRAY16_LE", "GRAY16_LE", k601Full, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"P010_2020", "P010_10LE", k2020, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"RGB", "RGB", nullptr, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"BGR", "BGR", nullptr, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"RGBx", "RGBx", nullptr, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"BGRx", "BGRx", nullptr, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"ARGB", "ARGB", nullptr, 24, 18, kRounded, kRoundedOnAverage},
                    Source{"ABGR", "ABGR", nullptr, 24, 18, kRounded, kRoundedOnAverage}),
    by_name);

INSTANTIATE_TEST_SUITE_P(
    Enlarged, Videoconvert,
    testing::Values(Source{"Twice", "RGB", nullptr, 12, 9, kRounded, kRoundedOnAverage},
                    Source{"ByAFraction", "RGB", nullptr, 17, 13, kRounded, kRoundedOnAverage}),
    by_name);

}  // namespace
}  // namespace gstnpu::test::videoconvert_test
