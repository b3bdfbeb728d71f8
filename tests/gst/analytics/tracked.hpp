// nputrack, frames for it, and what it makes of them.
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decoding.hpp"
#include "hand_made_frames.hpp"

namespace gstnpu_test {

inline constexpr double kWidth = 640, kHeight = 480;

struct Box {
  double x, y, w = 60, h = 60;
};

/// As nputensordec attaches it.
inline GstVideoRegionOfInterestMeta* add_object(GstBuffer* buffer, const Box& box,
                                                const char* label = "car",
                                                double confidence = 0.9) {
  GstVideoRegionOfInterestMeta* meta = gst_buffer_add_video_region_of_interest_meta(
      buffer, label, static_cast<guint>(box.x), static_cast<guint>(box.y),
      static_cast<guint>(box.w), static_cast<guint>(box.h));
  gst_video_region_of_interest_meta_add_param(
      meta, gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, box.x / kWidth, "x_max",
                              G_TYPE_DOUBLE, (box.x + box.w) / kWidth, "y_min", G_TYPE_DOUBLE,
                              box.y / kHeight, "y_max", G_TYPE_DOUBLE, (box.y + box.h) / kHeight,
                              "confidence", G_TYPE_DOUBLE, confidence, "label_id", G_TYPE_INT, 3,
                              "label", G_TYPE_STRING, label, nullptr));
  return meta;
}

inline Owned<GstBuffer> empty_frame(int index) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 16, nullptr));
  GST_BUFFER_PTS(buffer.get()) = gst_util_uint64_scale(static_cast<guint64>(index), GST_SECOND, 30);
  return buffer;
}

inline Owned<GstBuffer> inferred_frame(int index, const std::vector<Box>& boxes) {
  Owned<GstBuffer> buffer = empty_frame(index);
  gst_buffer_add_npu_inference_meta(buffer.get(), "model.xml");
  for (const Box& box : boxes) add_object(buffer.get(), box);
  return buffer;
}

struct Found {
  std::string label;
  Box box;
  std::optional<int> label_id;
  std::optional<int> id;
};

inline std::vector<Found> objects_of(GstBuffer* buffer) {
  std::vector<Found> objects;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(base);
    Found found{.label = g_quark_to_string(meta->roi_type),
                .box = {double(meta->x), double(meta->y), double(meta->w), double(meta->h)},
                .label_id = {},
                .id = {}};
    gint value = 0;
    const auto* detection = gst_video_region_of_interest_meta_get_param(meta, "detection");
    if (detection && gst_structure_get_int(detection, "label_id", &value)) {
      found.label_id = value;
    }
    const auto* track = gst_video_region_of_interest_meta_get_param(meta, "object_id");
    if (track && gst_structure_get_int(track, "id", &value)) {
      found.id = value;
    }
    objects.push_back(found);
  }
  return objects;
}

inline double overlap(const Box& a, const Box& b) {
  const double w = std::min(a.x + a.w, b.x + b.w) - std::max(a.x, b.x);
  const double h = std::min(a.y + a.h, b.y + b.h) - std::max(a.y, b.y);
  const double shared = std::max(w, 0.0) * std::max(h, 0.0);
  return shared / (a.w * a.h + b.w * b.h - shared);
}

/// The element and what it makes of frames.
class Tracked {
 public:
  explicit Tracked(const std::string& properties = "", const char* caps = kCaps)
      : harness_("nputrack name=track " + properties, caps),
        element_(gst_bin_get_by_name(GST_BIN(harness_.element()), "track")) {}

  std::vector<Found> push(Owned<GstBuffer> buffer) {
    EXPECT_EQ(harness_.push(std::move(buffer)), GST_FLOW_OK);
    out_ = harness_.pull();
    return out_ ? objects_of(out_.get()) : std::vector<Found>();
  }
  /// The identity of a thing that stands still; nullopt: it has none.
  std::optional<int> still(int index) {
    const auto objects = push(inferred_frame(index, {{100, 100}}));
    return objects.size() == 1 ? objects[0].id : std::nullopt;
  }
  GstBuffer* last_frame() const { return out_.get(); }
  guint64 stat(const char* field) const {
    GstStructure* stats = nullptr;
    g_object_get(element(), "stats", &stats, nullptr);
    const Owned<GstStructure> owner(stats);
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
    return value;
  }
  void send(GstEvent* event) { EXPECT_TRUE(gst_harness_push_event(harness_.get(), event)); }
  void send_segment(GstClockTime start) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = start;
    send(gst_event_new_segment(&segment));
  }
  ElementHarness& harness() { return harness_; }
  GstElement* element() const { return element_.get(); }

 private:
  ElementHarness harness_;
  Owned<GstElement> element_;
  Owned<GstBuffer> out_;
};

}  // namespace gstnpu_test
