// When a frame was taken, by the clock on the wall.
#pragma once

#include <gst/gst.h>

#include <string>

namespace gstnpu {

/// As RFC 3339 has it, in UTC, with microseconds. What a GstReferenceTimestampMeta says (NTP of an
/// RTP source, Unix time, a GstUtcClock), else the time of this machine, less what has passed since
/// the frame's running time.
std::string wall_clock_of(GstBuffer* buffer, const GstSegment& segment, GstElement* element);

}  // namespace gstnpu
