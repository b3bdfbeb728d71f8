// Follows a stream of frames by its caps and events: their size, their time, and where another
// stream begins.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <cstdint>
#include <optional>

#include <npuvision/answer.hpp>

#include "refs.hpp"

namespace gstnpu {

inline std::optional<npu::vision::FrameSize> frame_size_in(const GstStructure* caps) {
  gint width = 0, height = 0;
  if (!gst_structure_get_int(caps, "width", &width) || width <= 0 ||
      !gst_structure_get_int(caps, "height", &height) || height <= 0) {
    return std::nullopt;
  }
  return npu::vision::FrameSize{static_cast<std::uint32_t>(width),
                                static_cast<std::uint32_t>(height)};
}

/// The same; where there is none, an error of the element says so.
inline std::optional<npu::vision::FrameSize> required_frame_size(GstElement* element,
                                                                 const GstCaps* caps) {
  const auto size = frame_size_in(gst_caps_get_structure(caps, 0));
  if (!size) {
    GST_ELEMENT_ERROR(element, STREAM, FORMAT,
                      ("The caps have no frame size: give whoever makes these frames caps with "
                       "width and height."),
                      ("caps %" GST_PTR_FORMAT, caps));
  }
  return size;
}

constexpr double kUsualFrame = 1.0 / 30;  ///< seconds, where nothing tells

/// How long the caps say that a frame lasts.
inline double frame_seconds(const GstStructure* structure) {
  gint numerator = 0, denominator = 0;
  if (!gst_structure_get_fraction(structure, "framerate", &numerator, &denominator) ||
      numerator <= 0 || denominator <= 0) {
    return kUsualFrame;
  }
  return static_cast<double>(denominator) / numerator;
}

/// The time of frames in seconds, which never goes back but where all tracks are to end.
class FrameClock {
 public:
  void set_frame_seconds(double seconds) { frame_seconds_ = seconds; }
  void reset() { is_first_ = true; }
  /// Whether a frame is not what follows the last one, and no event tells: the time of frames that
  /// were lost does not go back.
  bool is_behind_cut(GstBuffer* buffer, const GstSegment& segment) const {
    if (is_first_ || !GST_BUFFER_IS_DISCONT(buffer) || !GST_BUFFER_PTS_IS_VALID(buffer)) {
      return false;
    }
    return seconds_of(buffer, segment) < last_;
  }
  /// Backwards, time goes on all the same.
  double time_of(GstBuffer* buffer, const GstSegment& segment, double patience) {
    const double next = is_first_ ? 0 : last_ + frame_seconds_;
    double seconds = GST_BUFFER_PTS_IS_VALID(buffer) ? seconds_of(buffer, segment) : next;
    // Timestamps that stumble do not end tracks; those that begin anew do.
    if (!is_first_ && seconds < last_ && last_ - seconds <= patience) {
      seconds = last_;
    }
    is_first_ = false;
    return last_ = seconds;
  }

 private:
  static double seconds_of(GstBuffer* buffer, const GstSegment& segment) {
    const double seconds = static_cast<double>(GST_BUFFER_PTS(buffer)) / GST_SECOND;
    return segment.rate < 0 ? -seconds : seconds;
  }

  double frame_seconds_ = kUsualFrame;
  double last_ = 0;
  bool is_first_ = true;
};

/// Whether both give the same timestamps the same time. Where a segment ends, and how far it was
/// played, does not matter; the latter changes with each frame.
inline bool is_same_time(const GstSegment& a, const GstSegment& b) {
  return a.format == b.format && a.rate == b.rate && a.applied_rate == b.applied_rate &&
         a.base == b.base && a.offset == b.offset && a.start == b.start && a.time == b.time;
}

/// Whether what follows an event is another stream, or another place of it. A stream-start or a
/// segment that is sent again changes nothing: elements that are linked anew do that.
inline bool begins_anew(GstBaseTransform* base, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return true;
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    const gchar* id = nullptr;
    gst_event_parse_stream_start(event, &id);
    const TextRef before(gst_pad_get_stream_id(GST_BASE_TRANSFORM_SINK_PAD(base)));
    return g_strcmp0(id, before.get()) != 0;
  }
  if (GST_EVENT_TYPE(event) != GST_EVENT_SEGMENT) return false;
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  return !is_same_time(*segment, base->segment);
}

}  // namespace gstnpu
