// Scales a part of a frame on the CPU into NPU memory. One graph then serves parts of any size.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <memory>
#include <optional>

#include <npucore/frame.hpp>

#include "frame_description.hpp"
#include "plane_mapping.hpp"
#include "tensor_recycler.hpp"

namespace gstnpu {

struct PixelRect {
  guint x = 0, y = 0, width = 0, height = 0;
  bool operator==(const PixelRect&) const = default;
};

/// The picture that regions of any size are scaled to.
struct RegionTarget {
  npu::FrameLayout layout;
  npu::ResizeMode resize = npu::ResizeMode::kStretch;
  float pad_value = 114;  ///< letterbox border, grey level
  double aspect = 1;      ///< width by height of the part that a crop takes
};

/// Source and destination of a region's pixels.
struct RegionPlace {
  PixelRect read;    ///< in the frame's visible pixels; whole samples
  PixelRect filled;  ///< in the target's visible pixels; borders around it
};

/// `region` is inside a frame like `frame`, and not empty.
RegionPlace place_region(const PixelRect& region, const npu::FrameLayout& frame,
                         const RegionTarget& target);

/// The model's rectangle in the frame; `graph` is its rectangle in the target.
npu::FrameGeometry geometry_of(const RegionPlace& place, const npu::FrameGeometry& graph);

/// Reads regions of a frame, which it maps once for its lifetime.
class RegionReader {
 public:
  /// `frame` describes `buffer` of a stream of `info`. Throws npu::Error as PlaneMapping does.
  RegionReader(const GstVideoInfo& info, const FrameDescription& frame, GstBuffer* buffer);

  /// Averages areas down to twice the final size, then lets GStreamer's linear converter write the
  /// target's layout, plane after plane. Throws npu::Error where GStreamer has no conversion.
  DeviceMemoryRef copy(const RegionPlace& place, const RegionTarget& target,
                       TensorRecycler& recycler) const;

 private:
  GstVideoFrame from_ = {};
  guint left_ = 0, top_ = 0;  // first visible pixel in from_, where a crop starts inside a sample
  std::array<std::optional<PlaneMapping>, GST_VIDEO_MAX_PLANES> planes_;
};

}  // namespace gstnpu
