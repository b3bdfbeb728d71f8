// Buffers of frames in the NPU's memory.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <optional>

#include <npucore/frame.hpp>

#include "common/refs.hpp"

namespace gstnpu {

/// How a pool's frames may lie in memory.
struct PoolLayout {
  /// What graphs read that take one layout only: the frames' layout wherever upstream knows
  /// GstVideoMeta. Empty: the caps' own, or the alignment that upstream asks for.
  std::optional<GstVideoInfo> fixed;
  /// Whether upstream may ask for an alignment.
  bool takes_alignment = false;
};

/// The strides and planes of `layout` for frames of the stream `info`; empty where no GstVideoMeta
/// can tell them (a crop).
std::optional<GstVideoInfo> info_of_layout(const GstVideoInfo& info,
                                           const npu::FrameLayout& layout);

/// The padding that makes GStreamer's layout of `info`'s stream the one of `wanted`; empty where
/// none does.
std::optional<GstVideoAlignment> alignment_of(const GstVideoInfo& info, const GstVideoInfo& wanted);

/// A pool of `allocator`'s memory, which allocates nothing before it is activated. It accepts any
/// number of buffers and has no maximum: decoders throw away what limits them.
ObjectRef<GstBufferPool> make_pool(GstCaps* caps, const PoolLayout& layout, guint size_bytes,
                                   guint min_buffers, GstAllocator* allocator);

}  // namespace gstnpu
