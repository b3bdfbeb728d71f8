// From a buffer to what a graph is bound to.
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

/// Bytes of the pixels that can be seen.
gsize visible_bytes(const FrameDescription& frame);

/// Throws npu::Error where frames of `layout`, which are to be read in place, are not taken by what
/// was opened.
void check_reads(Opened& opened, const npu::FrameLayout& layout);

/// A region of a frame, scaled into memory of the NPU as `graph`, which is for `target`, reads it.
BoundPlanes copy_region(const RegionReader& reader, const RegionPlace& place, RegionTarget target,
                        const Graph& graph, TensorRecycler& recycler);

/// One frame on its way into a graph: bound where it lies, or copied, and why. All that it is made
/// with is borrowed.
class FrameInput {
 public:
  /// A buffer of a stream of `info`, which is described in `frame`. Throws npu::Error when the
  /// buffer's metadata contradict it.
  FrameInput(Opened& opened, const GstVideoInfo& info, GstBuffer* buffer, FrameDescription& frame);

  gsize visible_bytes() const { return gstnpu::visible_bytes(frame_); }
  /// Looks for the memory behind the buffer.
  void find_memory() { found_ = opened_.finder().find(frame_, buffer_); }
  /// Whether the device had no room for it: look again once others have let go of theirs.
  bool needs_room() const { return found_.cause == CopyCause::kImportWindow; }

  /// Whether a graph for layout() may read the frame in place.
  bool may_be_bound() const { return !found_.planes.empty(); }
  const npu::FrameLayout& layout() const { return frame_.layout; }
  /// The planes as `graph` reads them; nullopt where the frame must be copied. Throws npu::Error
  /// for a frame that a blob's graph does not take.
  std::optional<BoundPlanes> bind(const Graph& graph);

  /// Why it must be copied, and the driver's words where it refused.
  CopyCause cause() const { return found_.cause; }
  const std::string& detail() const { return found_.detail; }
  /// What the graph that reads the copy is compiled for.
  npu::FrameLayout layout_of_copy() const { return default_layout(frame_.layout); }
  /// Throws npu::Error for a frame that a blob's graph does not take, and for a buffer that is
  /// shorter than it claims.
  BoundPlanes copy(const Graph& graph);

  /// Whether a GstVideoCropMeta, which may be another one in each frame, says what is visible.
  bool is_cropped() const { return gst_buffer_get_video_crop_meta(buffer_) != nullptr; }
  /// Instead of both: all that is visible, scaled for a `graph` for `target`. Throws npu::Error as
  /// copy() does.
  BoundPlanes scale(RegionTarget target, const Graph& graph);

 private:
  void check_size(const npu::FrameLayout& graph) const;

  Opened& opened_;
  const GstVideoInfo& info_;
  GstBuffer* const buffer_;
  const FrameDescription& frame_;
  FoundPlanes found_;
};

}  // namespace gstnpu
