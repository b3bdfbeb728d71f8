// Makes pictures smaller by averaging areas. GStreamer's 8-bit filters are no true averages: at
// some ratios their weights do not add up to one, and whole pictures come out lighter or darker.
#pragma once

#include <gst/video/video.h>

#include <vector>

namespace gstnpu {

/// A picture with memory of its own.
struct OwnFrame {
  GstVideoFrame frame = {};
  std::vector<guint8> memory;
};

/// Scales `width` x `height` pixels of `from`, starting at (x, y), down to `to_width` x
/// `to_height`: each sample becomes the mean of the area that it covers. (x, y) must start a whole
/// sample of every component, and neither side may grow.
OwnFrame average_areas(const GstVideoFrame& from, guint x, guint y, guint width, guint height,
                       guint to_width, guint to_height);

}  // namespace gstnpu
