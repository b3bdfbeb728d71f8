// Pictures made smaller by means, which GStreamer's 8-bit filters are not: theirs have sums other
// than one at some ratios, and whole pictures come out lighter or darker.
#pragma once

#include <gst/video/video.h>

#include <vector>

namespace gstnpu {

/// A picture with memory of its own.
struct OwnFrame {
  GstVideoFrame frame = {};
  std::vector<guint8> memory;
};

/// The pixels of `from` from (x, y) on, which begins a whole sample of every component, `width` by
/// `height` of them, as a picture of `to_width` by `to_height`, which are no more: each sample is
/// the mean of the area that it covers.
OwnFrame average_areas(const GstVideoFrame& from, guint x, guint y, guint width, guint height,
                       guint to_width, guint to_height);

}  // namespace gstnpu
