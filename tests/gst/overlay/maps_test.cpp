// npuoverlay on frames with maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "element_harness.hpp"
#include "results.hpp"

namespace gstnpu::test::maps_test {
namespace {

constexpr int kWidth = 320, kHeight = 240;
constexpr FrameArea kWhole{0, 0, kWidth, kHeight};

void attach(const BufferRef& frame, FoundMap map) {
  add_map(frame.get(), {kWidth, kHeight}, std::move(map), {"background", "cat", "dog"});
}

FoundMap of_classes(guint columns, guint rows, std::vector<guint16> values,
                    const FrameArea& area = kWhole) {
  return {.area = area, .object_id = {}, .classes = {columns, rows, std::move(values)}};
}

FoundMap of_values(guint columns, guint rows, std::vector<float> values,
                   const FrameArea& area = kWhole) {
  return {
      .area = area, .object_id = {}, .classes = {}, .values = {columns, rows, std::move(values)}};
}

/// The left half a cat, the right one nothing.
FoundMap half_a_cat() {
  return of_classes(2, 1, {1, 0});
}

std::vector<guint8> bytes_of(GstBuffer* buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

std::vector<guint8> pixel_at(const std::vector<guint8>& rgb, int x, int y) {
  const auto* at = rgb.data() + 3 * (y * kWidth + x);
  return {at, at + 3};
}

const std::vector<guint8> kGray{128, 128, 128};

class NpuOverlayMaps : public testing::Test {
 protected:
  void SetUp() override { harness_.set_caps(caps_of("RGB", kWidth, kHeight)); }

  static BufferRef gray() { return frame_of("RGB", kWidth, kHeight, 128); }
  std::vector<guint8> drawn(BufferRef frame) {
    EXPECT_EQ(harness_.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness_.pull();
    return out ? bytes_of(out.get()) : std::vector<guint8>();
  }
  std::vector<guint8> drawn_with(FoundMap map) {
    BufferRef frame = gray();
    attach(frame, std::move(map));
    return drawn(std::move(frame));
  }

  ElementHarness harness_{"npuoverlay"};
};

TEST_F(NpuOverlayMaps, DrawsClassesButNoBackground) {
  const auto picture = drawn_with(half_a_cat());
  EXPECT_NE(pixel_at(picture, 20, 200), kGray);
  EXPECT_EQ(pixel_at(picture, 20, 200), pixel_at(picture, 150, 120));
  EXPECT_EQ(pixel_at(picture, 170, 120), kGray);
  EXPECT_NE(pixel_at(picture, 2, 2), pixel_at(picture, 20, 200)) << "the legend";
}

TEST_F(NpuOverlayMaps, DrawsNoneAndNoLegendWhereNotWanted) {
  g_object_set(harness_.element(), "labels", FALSE, nullptr);
  const auto without_legend = drawn_with(half_a_cat());
  EXPECT_EQ(pixel_at(without_legend, 2, 2), pixel_at(without_legend, 20, 200));
  g_object_set(harness_.element(), "labels", TRUE, "maps", FALSE, nullptr);
  EXPECT_EQ(drawn_with(half_a_cat()), bytes_of(gray().get()));
}

TEST_F(NpuOverlayMaps, DrawsThemWhereTheyAreInTheFrame) {
  const auto picture =
      drawn_with(of_classes(1, 1, {2}, {kWidth / 2.0, kHeight / 2.0, kWidth, kHeight}));
  EXPECT_EQ(pixel_at(picture, 150, 200), kGray);
  EXPECT_NE(pixel_at(picture, 170, 200), kGray);
}

// Those of objects come behind the frame's.
TEST_F(NpuOverlayMaps, DrawsOneOverTheOther) {
  g_object_set(harness_.element(), "labels", FALSE, "mask-opacity", 1.0, nullptr);
  const auto whole = [] { return of_classes(1, 1, {1}); };
  BufferRef frame = gray();
  attach(frame, whole());
  attach(frame, of_classes(1, 1, {2}, {kWidth / 2.0, 0, kWidth, kHeight}));
  const auto picture = drawn(std::move(frame)), alone = drawn_with(whole());
  EXPECT_EQ(pixel_at(picture, 20, 200), pixel_at(alone, 20, 200));
  EXPECT_NE(pixel_at(picture, 300, 200), pixel_at(alone, 300, 200));
}

TEST_F(NpuOverlayMaps, HaveALegendEach) {
  g_object_set(harness_.element(), "mask-opacity", 0.0, nullptr);
  const int second_line = 20;
  EXPECT_EQ(pixel_at(drawn_with(half_a_cat()), 1, second_line), kGray);
  BufferRef frame = gray();
  attach(frame, half_a_cat());
  attach(frame, half_a_cat());
  EXPECT_NE(pixel_at(drawn(std::move(frame)), 1, second_line), kGray);
}

TEST_F(NpuOverlayMaps, DrawsDepthAsHeat) {
  const auto picture = drawn_with(of_values(2, 1, {3, 17}));
  const auto near = pixel_at(picture, 300, 200), far = pixel_at(picture, 20, 200);
  EXPECT_GT(near[0], near[2]) << "red";
  EXPECT_GT(far[2], far[0]) << "blue";
}

TEST_F(NpuOverlayMaps, OfAnomaliesDrawsWhatIsNotNormal) {
  FoundMap map = of_values(2, 1, {0.1F, 0.9F});
  map.is_anomaly = true;
  const auto picture = drawn_with(std::move(map));
  EXPECT_EQ(pixel_at(picture, 20, 200), kGray);
  EXPECT_NE(pixel_at(picture, 300, 200), kGray);
}

TEST_F(NpuOverlayMaps, TakesAnyClassesValuesAndPlaces) {
  constexpr double kNumbers[] = {NAN, -INFINITY, INFINITY, -1e300, 1e300, -3, 0, 1, 1e-310};
  for (const double one : kNumbers) {
    for (const double other : kNumbers) {
      BufferRef frame = gray();
      attach(frame, of_classes(2, 2, {0, 1, 65535, 3000}, {one, one, other, other}));
      attach(frame, of_values(2, 2, {static_cast<float>(one), static_cast<float>(other), NAN, 0},
                              {other, 0, one, 1}));
      EXPECT_EQ(drawn(std::move(frame)).size(), std::size_t{3} * kWidth * kHeight);
    }
  }
}

/// Red and alpha of the middle pixel of the first composition of a frame.
std::pair<int, int> middle_of(GstBuffer* buffer) {
  auto* meta = gst_buffer_get_video_overlay_composition_meta(buffer);
  if (!meta) return {-1, -1};
  GstBuffer* pixels = gst_video_overlay_rectangle_get_pixels_unscaled_argb(
      gst_video_overlay_composition_get_rectangle(meta->overlay, 0),
      GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  const GstVideoMeta* video = gst_buffer_get_video_meta(pixels);
  std::vector<guint8> bytes = bytes_of(pixels);
  const guint8* at = bytes.data() + video->height / 2 * static_cast<gsize>(video->stride[0]) +
                     gsize{4} * (video->width / 2);
  constexpr bool kLittle = G_BYTE_ORDER == G_LITTLE_ENDIAN;
  return {at[kLittle ? 2 : 1], at[kLittle ? 3 : 0]};
}

TEST(NpuOverlayMapsAttached, ArePremultiplied) {
  ElementHarness harness("npuoverlay", [](GstElement* element) {
    gst_util_set_object_arg(G_OBJECT(element), "mode", "attach");
    g_object_set(element, "labels", FALSE, "mask-opacity", 0.5, nullptr);
  });
  harness.set_caps(caps_of("NV12", kWidth, kHeight));
  BufferRef frame = frame_of("NV12", kWidth, kHeight, 128);
  attach(frame, of_values(3, 1, {0, 1, 1}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const auto [red, alpha] = middle_of(harness.pull().get());
  EXPECT_EQ(alpha, 128);
  EXPECT_EQ(red, 64) << "128 of red at half its strength";
}

/// Finds the rows of NV12's chroma that a map of two rows changes.
std::vector<bool> changed_chroma(guint16 upper, guint16 lower) {
  ElementHarness harness(
      "npuoverlay", [](GstElement* element) { g_object_set(element, "labels", FALSE, nullptr); });
  harness.set_caps(caps_of("NV12", kWidth, kHeight));
  BufferRef frame = frame_of("NV12", kWidth, kHeight, 128);
  attach(frame, of_classes(1, 2, {upper, lower}));
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const auto bytes = bytes_of(harness.pull().get());
  std::vector<bool> changed;
  for (int row = 0; row < kHeight / 2; ++row) {
    changed.push_back(
        bytes[static_cast<std::size_t>(kWidth) * static_cast<std::size_t>(kHeight + row)] != 128);
  }
  return changed;
}

TEST(NpuOverlayMapsOnNv12, HaveTheirChromaWhereTheyAre) {
  std::vector<bool> half(kHeight / 2, true);
  std::fill(half.begin() + kHeight / 4, half.end(), false);
  EXPECT_EQ(changed_chroma(1, 0), half);
  half.flip();
  EXPECT_EQ(changed_chroma(0, 1), half);
}

class EachMapFormat : public testing::TestWithParam<const char*> {};

// As the same map is drawn on RGB.
TEST_P(EachMapFormat, IsDrawnOrAttachedAlike) {
  for (const char* mode : {"draw", "attach"}) {
    ElementHarness harness("npuoverlay", [mode](GstElement* element) {
      gst_util_set_object_arg(G_OBJECT(element), "mode", mode);
      g_object_set(element, "labels", FALSE, nullptr);
    });
    harness.set_caps(caps_of(GetParam(), kWidth, kHeight));
    BufferRef frame = frame_of(GetParam(), kWidth, kHeight, 128);
    const auto before = bytes_of(frame.get());
    attach(frame, half_a_cat());
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    GstVideoOverlayCompositionMeta* meta = gst_buffer_get_video_overlay_composition_meta(out.get());
    ASSERT_EQ(meta != nullptr, std::string(mode) == "attach");
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(GetParam()), kWidth, kHeight);
    GstVideoFrame pixels;
    BufferRef copy(gst_buffer_copy_deep(out.get()));
    ASSERT_TRUE(gst_video_frame_map(&pixels, &info, copy.get(), GST_MAP_READWRITE));
    if (meta) {
      EXPECT_TRUE(gst_video_overlay_composition_blend(meta->overlay, &pixels));
    }
    const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&pixels, 0)) +
                      100 * GST_VIDEO_FRAME_PLANE_STRIDE(&pixels, 0);
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&pixels, 0);
    EXPECT_NE(row[40 * step], 128) << mode;
    EXPECT_EQ(row[40 * step], row[150 * step]) << mode;
    EXPECT_EQ(row[170 * step], 128) << mode;
    gst_video_frame_unmap(&pixels);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachMapFormat,
                         testing::Values("NV12", "I420", "YUY2", "RGB", "BGRx", "GRAY8"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace gstnpu::test::maps_test
