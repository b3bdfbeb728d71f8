// Buffer pools with the NPU's memory.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <optional>

#include <npucore/frame.hpp>

#include "common/refs.hpp"

namespace gstnpu {

/// The layouts that a pool's frames may have.
struct PoolLayout {
  /// The only layout that the graph reads; used for upstream that knows GstVideoMeta. Empty: the
  /// caps' own layout, or the alignment that upstream asks for.
  std::optional<GstVideoInfo> fixed;
  /// Whether upstream may ask for an alignment.
  bool takes_alignment = false;
};

/// Strides and planes of `layout` for frames of the stream `info`; empty where GstVideoMeta cannot
/// describe them (a crop).
std::optional<GstVideoInfo> info_of_layout(const GstVideoInfo& info,
                                           const npu::FrameLayout& layout);

/// The padding that turns GStreamer's layout for `info` into `wanted`; empty where no padding does.
std::optional<GstVideoAlignment> alignment_of(const GstVideoInfo& info, const GstVideoInfo& wanted);

/// Makes a pool of `allocator`'s memory that allocates nothing before it is activated. It has no
/// maximum, because decoders throw away pools that limit them.
ObjectRef<GstBufferPool> make_pool(GstCaps* caps, const PoolLayout& layout, guint size_bytes,
                                   guint min_buffers, GstAllocator* allocator);

}  // namespace gstnpu
