// Binds a buffer to a graph's inputs.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "frames/frame_description.hpp"
#include "frames/plane_memory.hpp"
#include "frames/region_copy.hpp"
#include "graphs/graph.hpp"

#include "inference.hpp"
#include "opened.hpp"

namespace gstnpu {

/// Bytes of the visible pixels.
gsize visible_bytes(const FrameDescription& frame);

/// Throws npu::Error where frames of `layout` can neither be read in place nor may be copied
/// (npuimport without convert=allow).
void check_reads(Opened& opened, const npu::FrameLayout& layout);

/// Scales a region of a frame into NPU memory with the strides of `graph`, which was compiled for
/// `target`.
BoundPlanes copy_region(const RegionReader& reader, const RegionPlace& place, RegionTarget target,
                        const Graph& graph, TensorRecycler& recycler);

/// One frame on its way into a graph: bound in place, or copied and why. Borrows all constructor
/// arguments.
class FrameInput {
 public:
  /// `buffer` belongs to a stream of `info`; its description is written to `frame`. Throws
  /// npu::Error where the buffer's metadata contradict the stream.
  FrameInput(Opened& opened, const GstVideoInfo& info, GstBuffer* buffer, FrameDescription& frame);

  gsize visible_bytes() const { return gstnpu::visible_bytes(frame_); }
  /// Looks for the memory behind the buffer.
  void find_memory() { found_ = opened_.finder().find(frame_, buffer_); }
  /// Whether the device had no room for this memory. Call find_memory() again once others have
  /// released theirs.
  bool needs_room() const { return found_.cause == CopyCause::kImportWindow; }

  /// Whether a graph for layout() may read the frame in place.
  bool may_be_bound() const { return !found_.planes.empty(); }
  const npu::FrameLayout& layout() const { return frame_.layout; }
  /// The planes as `graph` reads them; nullopt where the frame must be copied. Throws npu::Error
  /// for a frame that a blob's graph does not take.
  std::optional<BoundPlanes> bind(const Graph& graph);

  /// Why the frame must be copied.
  CopyCause cause() const { return found_.cause; }
  const std::string& detail() const { return found_.detail; }
  /// The layout that the copy has, for which its graph is compiled.
  npu::FrameLayout layout_of_copy() const { return default_layout(frame_.layout); }
  /// Throws npu::Error for a frame that a blob's graph does not take, and for a buffer that is
  /// shorter than it claims.
  BoundPlanes copy(const Graph& graph);

  /// Whether a GstVideoCropMeta, which may differ from frame to frame, selects the visible part.
  bool is_cropped() const { return gst_buffer_get_video_crop_meta(buffer_) != nullptr; }
  /// Scales all that is visible for a `graph` that was compiled for `target`, instead of bind() or
  /// copy(). Throws npu::Error as copy() does.
  BoundPlanes scale(RegionTarget target, CopyCause cause, const Graph& graph);

 private:
  void check_size(const npu::FrameLayout& graph) const;

  Opened& opened_;
  const GstVideoInfo& info_;
  GstBuffer* const buffer_;
  const FrameDescription& frame_;
  FoundPlanes found_;
};

}  // namespace gstnpu
