// The time of frames for those who follow objects.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

namespace gstnpu {

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
  /// Backwards, time goes on all the same.
  double time_of(GstBuffer* buffer, const GstSegment& segment, double patience) {
    const double next = is_first_ ? 0 : last_ + frame_seconds_;
    double seconds = next;
    if (GST_BUFFER_PTS_IS_VALID(buffer)) {
      seconds = static_cast<double>(GST_BUFFER_PTS(buffer)) / GST_SECOND;
      seconds = segment.rate < 0 ? -seconds : seconds;
    }
    // Timestamps that stumble do not end tracks; those that begin anew do.
    if (!is_first_ && seconds < last_ && last_ - seconds <= patience) {
      seconds = last_;
    }
    is_first_ = false;
    return last_ = seconds;
  }

 private:
  double frame_seconds_ = kUsualFrame;
  double last_ = 0;
  bool is_first_ = true;
};

/// Whether what follows an event is another stream, or another place of it. A segment that is sent
/// again changes nothing.
inline bool begins_anew(GstBaseTransform* base, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_STREAM_START) return true;
  if (type != GST_EVENT_SEGMENT) return false;
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  return !gst_segment_is_equal(segment, &base->segment);
}

}  // namespace gstnpu
