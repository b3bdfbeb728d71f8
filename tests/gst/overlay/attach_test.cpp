// npuoverlay where downstream may take compositions.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "element_harness.hpp"

namespace gstnpu::test::attach_test {
namespace {

constexpr int kWidth = 320, kHeight = 240;

BufferRef frame_with_objects(const char* format) {
  BufferRef frame = frame_of(format, kWidth, kHeight, 128);
  for (const auto& [label, x, y, side] : {std::tuple("person", 100U, 100U, 80U),
                                          {"car", 130U, 120U, 90U},
                                          {"at the edge", 301U, 0U, 19U}}) {
    GstVideoRegionOfInterestMeta* region =
        gst_buffer_add_video_region_of_interest_meta(frame.get(), label, x, y, side, side);
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.5, nullptr));
  }
  return frame;
}

std::vector<guint8> bytes_of(GstBuffer* buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

GstVideoOverlayComposition* composition_of(const BufferRef& frame) {
  GstVideoOverlayCompositionMeta* meta = gst_buffer_get_video_overlay_composition_meta(frame.get());
  return meta ? meta->overlay : nullptr;
}

/// The frame with its composition blended by GStreamer.
std::vector<guint8> blended(const BufferRef& frame, const char* format) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), kWidth, kHeight);
  const BufferRef copy(gst_buffer_copy_deep(frame.get()));
  GstVideoFrame pixels;
  EXPECT_TRUE(gst_video_frame_map(&pixels, &info, copy.get(), GST_MAP_READWRITE));
  EXPECT_TRUE(gst_video_overlay_composition_blend(composition_of(frame), &pixels));
  gst_video_frame_unmap(&pixels);
  return bytes_of(copy.get());
}

class Attaching : public testing::Test {
 protected:
  explicit Attaching(const char* mode = "auto")
      : harness_("npuoverlay", [mode](GstElement* element) {
          gst_util_set_object_arg(G_OBJECT(element), "mode", mode);
        }) {}

  void take_compositions() {
    gst_harness_add_propose_allocation_meta(harness_.get(),
                                            GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
  }
  BufferRef through(BufferRef frame) {
    if (harness_.push(std::move(frame)) == GST_FLOW_OK) return harness_.pull();
    ADD_FAILURE() << harness_.messages(GST_MESSAGE_ERROR).at(0);
    return nullptr;
  }
  bool goes_with_the_feature() const {
    const CapsRef caps(gst_pad_get_current_caps(harness_.get()->sinkpad));
    return gst_caps_features_contains(gst_caps_get_features(caps.get(), 0),
                                      GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION);
  }

  ElementHarness harness_;
};

class AlwaysDrawing : public Attaching {
 protected:
  AlwaysDrawing() : Attaching("draw") {}
};

class AlwaysAttaching : public Attaching {
 protected:
  AlwaysAttaching() : Attaching("attach") {}
};

TEST_F(Attaching, LeavesThePixelsAloneWhereDownstreamTakesCompositions) {
  take_compositions();
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  const BufferRef out = through(frame_with_objects("NV12"));
  EXPECT_TRUE(goes_with_the_feature());
  ASSERT_NE(composition_of(out), nullptr);
  EXPECT_EQ(bytes_of(out.get()), bytes_of(frame_of("NV12", kWidth, kHeight, 128).get()));
  EXPECT_EQ(stat_of(harness_.element(), "attached"), 1U);
  EXPECT_EQ(stat_of(harness_.element(), "drawn"), 0U);
  EXPECT_EQ(composition_of(through(frame_of("NV12", kWidth, kHeight, 128, 1))), nullptr)
      << "a frame without results";
}

TEST_F(Attaching, DrawsWhereDownstreamTakesAnyCapsButNoCompositions) {
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  for (int i = 0; i < 2; ++i) {
    const BufferRef out = through(frame_with_objects("NV12"));
    EXPECT_FALSE(goes_with_the_feature());
    EXPECT_EQ(composition_of(out), nullptr);
    EXPECT_NE(bytes_of(out.get()), bytes_of(frame_of("NV12", kWidth, kHeight, 128).get()));
  }
}

TEST_F(Attaching, DrawsWhereDownstreamsCapsHaveNoCompositions) {
  take_compositions();
  gst_harness_set_sink_caps_str(harness_.get(), caps_of("NV12", kWidth, kHeight).c_str());
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_EQ(composition_of(through(frame_with_objects("NV12"))), nullptr);
}

TEST_F(Attaching, AsksAgainWhereDownstreamHasChanged) {
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_EQ(composition_of(through(frame_with_objects("NV12"))), nullptr);
  take_compositions();
  gst_harness_push_upstream_event(harness_.get(), gst_event_new_reconfigure());
  EXPECT_NE(composition_of(through(frame_with_objects("NV12"))), nullptr);
}

// An own copy of a frame shares its memory, whether that can be written to or not.
TEST_F(Attaching, CopiesNoPixels) {
  take_compositions();
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  BufferRef frame = frame_with_objects("NV12");
  GstMemory* memory = gst_buffer_peek_memory(frame.get(), 0);
  GST_MINI_OBJECT_FLAG_SET(memory, GST_MEMORY_FLAG_READONLY);
  const BufferRef other(gst_buffer_ref(frame.get()));
  const BufferRef out = through(std::move(frame));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_NE(composition_of(out), nullptr);
  EXPECT_EQ(composition_of(other), nullptr) << "another branch's frame";
}

TEST_F(Attaching, KeepsTheCompositionsOfOthersBelow) {
  take_compositions();
  harness_.set_caps(
      "video/"
      "x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition),format=NV12,width=320,height=240,"
      "framerate=30/1");
  const BufferRef pixels(gst_buffer_new_allocate(nullptr, 16, nullptr));
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE,
                            GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 2, 2);
  GstVideoOverlayRectangle* theirs = gst_video_overlay_rectangle_new_raw(
      pixels.get(), 7, 7, 2, 2, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  GstVideoOverlayComposition* composition = gst_video_overlay_composition_new(theirs);
  BufferRef frame = frame_with_objects("NV12");
  gst_buffer_add_video_overlay_composition_meta(frame.get(), composition);
  const BufferRef out = through(std::move(frame));
  ASSERT_NE(composition_of(out), nullptr);
  EXPECT_GT(gst_video_overlay_composition_n_rectangles(composition_of(out)), 1U);
  EXPECT_EQ(gst_video_overlay_composition_get_rectangle(composition_of(out), 0), theirs);
  EXPECT_EQ(gst_video_overlay_composition_n_rectangles(composition), 1U) << "theirs is as it was";
  gst_video_overlay_composition_unref(composition);
  gst_video_overlay_rectangle_unref(theirs);
}

// A frame of few objects has few rectangles: a sink may have a texture for each.
TEST_F(Attaching, PutsWhatLiesTogetherIntoOneRectangle) {
  take_compositions();
  harness_.set_caps(caps_of("RGB", kWidth, kHeight));
  const BufferRef out = through(frame_with_objects("RGB"));
  EXPECT_LE(gst_video_overlay_composition_n_rectangles(composition_of(out)), 3U * 5);
}

TEST_F(AlwaysDrawing, DrawsWhateverDownstreamTakes) {
  take_compositions();
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_EQ(composition_of(through(frame_with_objects("NV12"))), nullptr);
  EXPECT_FALSE(goes_with_the_feature());
}

TEST_F(AlwaysAttaching, AttachesWhateverDownstreamTakes) {
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_NE(composition_of(through(frame_with_objects("NV12"))), nullptr);
}

TEST_F(AlwaysAttaching, AttachesWithoutTheFeatureWhereCapsDenyIt) {
  gst_harness_set_sink_caps_str(harness_.get(), caps_of("NV12", kWidth, kHeight).c_str());
  harness_.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_NE(composition_of(through(frame_with_objects("NV12"))), nullptr);
  EXPECT_FALSE(goes_with_the_feature());
}

/// GStreamer takes all YUV for BT.709. Where pixels share chroma, it takes that of one of them, and
/// edges differ.
struct Blended {
  const char* format;
  const char* colorimetry;
  bool shares_chroma;
};

class EachFormatAttached : public testing::TestWithParam<Blended> {
 protected:
  static BufferRef frame_of_mode(const char* mode) {
    const auto& [format, colorimetry, shares_chroma] = GetParam();
    ElementHarness harness("npuoverlay", [mode](GstElement* element) {
      gst_util_set_object_arg(G_OBJECT(element), "mode", mode);
    });
    harness.set_caps(caps_of(format, kWidth, kHeight) + ",colorimetry=" + colorimetry);
    EXPECT_EQ(harness.push(frame_with_objects(format)), GST_FLOW_OK);
    return harness.pull();
  }
};

TEST_P(EachFormatAttached, LooksAsIfItWereDrawn) {
  const std::vector<guint8> theirs = blended(frame_of_mode("attach"), GetParam().format);
  const std::vector<guint8> ours = bytes_of(frame_of_mode("draw").get());
  ASSERT_EQ(theirs.size(), ours.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) others += std::abs(ours[i] - theirs[i]) > 3;
  EXPECT_LE(others, GetParam().shares_chroma ? ours.size() / 100 : 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachFormatAttached,
    testing::Values(Blended{"RGB", "sRGB", false}, Blended{"GBR", "sRGB", false},
                    Blended{"Y444", "bt709", false}, Blended{"NV12", "bt709", true},
                    Blended{"I420", "bt709", true}, Blended{"YUY2", "bt709", true}),
    [](const auto& row) { return std::string(row.param.format); });

}  // namespace
}  // namespace gstnpu::test::attach_test
