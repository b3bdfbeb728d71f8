// A part of a frame, scaled by the CPU into memory of the NPU: for what is of another size in each
// frame, so that one graph serves it.
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

/// What regions are scaled to, whatever their size.
struct RegionTarget {
  npu::FrameLayout layout;
  npu::ResizeMode resize = npu::ResizeMode::kStretch;
  float pad_value = 114;  ///< letterbox border, grey level
  double aspect = 1;      ///< width by height of what a crop takes
};

/// Where a region is read, and where its pixels go.
struct RegionPlace {
  PixelRect read;    ///< of the frame's visible pixels: the region, and what completes its samples
  PixelRect filled;  ///< of the target's visible pixels; borders around it
};

/// `region` is not empty and inside a frame like `frame`.
RegionPlace place_region(const PixelRect& region, const npu::FrameLayout& frame,
                         const RegionTarget& target);

/// Where the model's pixels lie in the frame: `graph` tells where they lie in the target.
npu::FrameGeometry geometry_of(const RegionPlace& place, const npu::FrameGeometry& graph);

/// A frame whose regions are read. Maps it once, for as long as it lives.
class RegionReader {
 public:
  /// `frame` describes `buffer` of a stream of `info`. Throws npu::Error as PlaneMapping does, and
  /// where GStreamer has no conversion.
  RegionReader(const GstVideoInfo& info, const FrameDescription& frame, GstBuffer* buffer);

  /// By means of areas down to twice the size, then by GStreamer's linear converter, into memory in
  /// the target's layout. The planes follow each other.
  DeviceMemoryRef copy(const RegionPlace& place, const RegionTarget& target,
                       TensorRecycler& recycler) const;

 private:
  GstVideoFrame from_ = {};
  guint left_ = 0, top_ = 0;  // of the visible pixels in from_, where a crop begins inside a sample
  std::array<std::optional<PlaneMapping>, GST_VIDEO_MAX_PLANES> planes_;
};

}  // namespace gstnpu
