// Frames that GStreamer has mapped.
#pragma once

#include <gst/video/video.h>

namespace gstnpu {

/// Of a frame with a GstVideoMeta, which gst_video_frame_map() believes: whether all rows are in
/// the memory that it has mapped.
bool holds_all_rows(const GstVideoFrame& frame);

}  // namespace gstnpu
