// Checks frames that GStreamer has mapped.
#pragma once

#include <gst/video/video.h>

namespace gstnpu {

/// Whether all rows are inside the mapped memory: gst_video_frame_map() believes whatever a
/// GstVideoMeta says.
bool holds_all_rows(const GstVideoFrame& frame);

}  // namespace gstnpu
