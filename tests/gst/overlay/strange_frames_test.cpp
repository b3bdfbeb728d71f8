// npuoverlay on frames of odd sizes and layouts, with results of all kinds on them.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "element_harness.hpp"
#include "results.hpp"

namespace gstnpu::test::strange_frames_test {
namespace {

constexpr guint8 kFill = 128, kGuard = 0xA5;

/// Adds an object with a mask, three key points that are joined, an angle and an identity.
void add_whole_object(GstBuffer* buffer, const std::string& label, const Edges& edges, int id) {
  const auto& [left, top, right, bottom] = edges;
  GstVideoRegionOfInterestMeta* object = add_object(buffer, label, edges, right);
  turn(object, {left, bottom, right - left, bottom - top, left});
  set_identity(object, id);
  add_key_points(object, {left, top, 1, right, bottom, 1, left, bottom, 0.5}, {0, 1, 1, 2, 2, 3});
  add_mask(object, edges, 3, 2, {255, 0, 255, 0, 255, 255});
}

void add_results(GstBuffer* buffer) {
  FrameAnswer answer;  // of a frame whose size nobody tells
  answer.classes = {{"<b>of & all", std::nullopt, 0.5}};
  answer.maps = {
      {.area = {0, 0, 40, 20}, .object_id = {}, .classes = {4, 2, {0, 1, 2, 3, 4, 5, 6, 7}}}};
  put_answer(buffer, std::make_shared<FrameAnswer>(std::move(answer)));
}

void add_all(GstBuffer* buffer, int turn) {
  add_results(buffer);
  add_whole_object(buffer, "<span size='900000'>&", {0.2, 0.2, 0.8, 0.8}, 1);
  add_whole_object(buffer, "\xff\xfe\xe2\x80\xa8\xe2\x80\xa9", {0, 0, 1, 1}, 2);
  add_whole_object(buffer, "far", {-5, -7, 9, 11}, 3);
  add_whole_object(buffer, "moves", {0.1 * turn, 0.9, 0.1 * turn + 0.1, 1}, 4);
  add_whole_object(buffer, "nowhere", {NAN, INFINITY, -INFINITY, 1e300}, 5);
}

/// Planes apart from each other, with bytes between their rows that nobody owns.
struct Layout {
  gsize size = 0;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
};

Layout padded(const GstVideoInfo& info) {
  Layout layout;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    layout.offsets[plane] = layout.size + 64;
    layout.strides[plane] = GST_VIDEO_INFO_PLANE_STRIDE(&info, plane) + 52;
    guint component = 0;
    while (GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, component) != plane) ++component;
    const gint rows = GST_VIDEO_INFO_COMP_HEIGHT(&info, component);
    layout.size = layout.offsets[plane] +
                  static_cast<gsize>(layout.strides[plane]) * static_cast<gsize>(rows + 1);
  }
  layout.size += 64;
  return layout;
}

/// Marks the bytes of a frame that are values of its pixels.
std::vector<bool> pixels_in(const GstVideoFrame& frame, gsize size) {
  std::vector<bool> found(size);
  const auto* begin = frame.map[0].data;
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++i) {
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, i); ++y) {
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, i); ++x) {
        const auto* at = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, i)) +
                         std::ptrdiff_t{y} * GST_VIDEO_FRAME_COMP_STRIDE(&frame, i) +
                         std::ptrdiff_t{x} * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, i);
        found[static_cast<std::size_t>(at - begin)] = true;
      }
    }
  }
  return found;
}

std::vector<std::string> formats() {
  std::vector<std::string> all;
  guint count = 0;
  const GstVideoFormat* raw = gst_video_formats_raw(&count);
  ElementHarness harness("npuoverlay");
  GstPad* pad = gst_element_get_static_pad(harness.element(), "sink");
  const CapsRef taken(gst_pad_get_pad_template_caps(pad));
  gst_object_unref(pad);
  for (guint i = 0; i < count; ++i) {
    const char* name = gst_video_format_to_string(raw[i]);
    const CapsRef caps(gst_caps_from_string(caps_of(name, 64, 48).c_str()));
    if (gst_caps_can_intersect(taken.get(), caps.get())) {
      all.emplace_back(name);
    }
  }
  return all;
}

const std::vector<std::pair<int, int>> kSizes{{1, 1}, {3, 3},   {2, 97},   {97, 2},
                                              {5, 1}, {33, 19}, {4097, 3}, {3, 4097}};

void turn_on_all(GstElement* element) {
  g_object_set(element, "statistics", TRUE, "trail-length", 5000, nullptr);
}

// Nothing is written between rows and planes, or before and behind them.
TEST(StrangeFrames, AreDrawnOnInTheirPixelsAlone) {
  const auto all = formats();
  EXPECT_GT(all.size(), 30U);
  for (const std::string& format : all) {
    for (const auto& [width, height] : kSizes) {
      GstVideoInfo info;
      gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()),
                                static_cast<guint>(width), static_cast<guint>(height));
      Layout layout = padded(info);
      ElementHarness harness("npuoverlay", turn_on_all, caps_of(format.c_str(), width, height));
      for (int turn = 0; turn < 2; ++turn) {
        BufferRef frame(gst_buffer_new_allocate(nullptr, layout.size, nullptr));
        gst_buffer_memset(frame.get(), 0, kGuard, layout.size);
        GST_BUFFER_PTS(frame.get()) = static_cast<GstClockTime>(turn) * GST_SECOND / 30;
        gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                       GST_VIDEO_INFO_FORMAT(&info), static_cast<guint>(width),
                                       static_cast<guint>(height), GST_VIDEO_INFO_N_PLANES(&info),
                                       layout.offsets, layout.strides);
        add_all(frame.get(), turn);
        ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK)
            << format << " " << width << "x" << height;
        const BufferRef out = harness.pull();
        GstVideoFrame mapped;
        ASSERT_TRUE(gst_video_frame_map(&mapped, &info, out.get(), GST_MAP_READ));
        const auto pixels = pixels_in(mapped, layout.size);
        gsize strays = 0, drawn = 0;
        for (gsize i = 0; i < layout.size; ++i) {
          const bool is_changed = mapped.map[0].data[i] != kGuard;
          strays += is_changed && !pixels[i];
          drawn += is_changed && pixels[i];
        }
        gst_video_frame_unmap(&mapped);
        EXPECT_EQ(strays, 0U) << format << " " << width << "x" << height;
        EXPECT_GT(drawn, 0U) << format << " " << width << "x" << height;
      }
    }
  }
}

TEST(StrangeFrames, AreAttachedToInside) {
  for (const auto& [width, height] : kSizes) {
    ElementHarness harness("npuoverlay", [](GstElement* element) {
      turn_on_all(element);
      gst_util_set_object_arg(G_OBJECT(element), "mode", "attach");
    });
    harness.set_caps(caps_of("NV12", width, height));
    for (int turn = 0; turn < 2; ++turn) {
      BufferRef frame = frame_of("NV12", width, height, kFill, static_cast<guint>(turn));
      add_all(frame.get(), turn);
      ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
      const BufferRef out = harness.pull();
      const auto* meta = gst_buffer_get_video_overlay_composition_meta(out.get());
      ASSERT_NE(meta, nullptr);
      for (guint i = 0; i < gst_video_overlay_composition_n_rectangles(meta->overlay); ++i) {
        gint x = 0, y = 0;
        guint w = 0, h = 0;
        gst_video_overlay_rectangle_get_render_rectangle(
            gst_video_overlay_composition_get_rectangle(meta->overlay, i), &x, &y, &w, &h);
        EXPECT_GE(x, 0);
        EXPECT_GE(y, 0);
        EXPECT_LE(x + static_cast<int>(w), width);
        EXPECT_LE(y + static_cast<int>(h), height);
      }
    }
  }
}

TEST(StrangeStreams, ChangeFormatAndSizeAtAnyTime) {
  ElementHarness harness("npuoverlay", turn_on_all);
  const auto all = formats();
  for (guint turn = 0; turn < 60; ++turn) {
    const auto& [width, height] = kSizes[turn % kSizes.size()];
    const std::string& format = all[turn * 7 % all.size()];
    harness.set_caps(caps_of(format.c_str(), width, height));
    BufferRef frame = frame_of(format.c_str(), width, height, kFill, turn);
    add_all(frame.get(), static_cast<int>(turn % 9));
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK)
        << format << " " << width << "x" << height;
    harness.pull();
  }
}

TEST(StrangeStreams, FieldsApartAreRefused) {
  ElementHarness harness("npuoverlay");
  for (const char* caps :
       {"video/x-raw(format:Interlaced),format=NV12,width=64,height=48,framerate=30/1,"
        "interlace-mode=alternate",
        "video/x-raw,format=NV12,width=64,height=48,framerate=30/1,interlace-mode=alternate"}) {
    GstEvent* event = gst_event_new_caps(CapsRef(gst_caps_from_string(caps)).get());
    EXPECT_FALSE(gst_pad_push_event(harness.get()->srcpad, event) &&
                 gst_pad_has_current_caps(harness.get()->sinkpad))
        << caps;
  }
}

TEST(StrangeStreams, PropertiesChangeWhileFramesFlow) {
  ElementHarness harness("npuoverlay", turn_on_all, caps_of("I420", 160, 120));
  std::atomic<bool> ends = false;
  std::thread changer([&] {
    for (guint i = 0; !ends; ++i) {
      g_object_set(harness.element(), "labels", i % 2 != 0, "masks", i % 3 != 0, "maps", i % 5 != 0,
                   "line-width", i % 30, "text-height", i * 7 % 90, "mask-opacity",
                   static_cast<double>(i % 11) / 10, "trail-length", i % 3000, "statistics",
                   i % 7 != 0, nullptr);
      GstStructure* stats = nullptr;
      g_object_get(harness.element(), "stats", &stats, nullptr);
      gst_structure_free(stats);
    }
  });
  for (guint i = 0; i < 100; ++i) {
    BufferRef frame = frame_of("I420", 160, 120, kFill, i);
    add_all(frame.get(), static_cast<int>(i % 10));
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    harness.pull();
  }
  ends = true;
  changer.join();
  EXPECT_EQ(stat_of(harness.element(), "frames"), 100U);
}

TEST(StrangeStreams, MayHaveThousandsOfObjects) {
  for (const char* mode : {"draw", "attach"}) {
    ElementHarness harness("npuoverlay", [mode](GstElement* element) {
      turn_on_all(element);
      gst_util_set_object_arg(G_OBJECT(element), "mode", mode);
    });
    harness.set_caps(caps_of("NV12", 640, 360));
    for (guint turn = 0; turn < 2; ++turn) {
      BufferRef frame = frame_of("NV12", 640, 360, kFill, turn);
      for (int i = 0; i < 2000; ++i) {
        const double x = i % 60 / 60.0 + turn * 0.01, y = i / 60 / 50.0;
        add_whole_object(frame.get(), "object " + std::to_string(i), {x, y, x + 0.015, y + 0.018},
                         i);
      }
      ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << mode;
      EXPECT_NE(harness.pull(), nullptr);
    }
    EXPECT_GT(stat_of(harness.element(), "labels-left-out"), 0U);
  }
}

}  // namespace
}  // namespace gstnpu::test::strange_frames_test
