// GstMemory of the NPU, which upstream writes straight into.
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideopool.h>

#include <npucore/tensor.hpp>

#include "plugin/refs.hpp"

namespace gstnpu {

/// An allocator whose memory is read by the NPU in place. Freed memory is used again, also when a
/// buffer pool discards its buffer.
ObjectRef<GstAllocator> make_allocator(const npu::Device& device);

/// The tensor that `memory` is part of, in the same device context; an empty one for other memory.
/// gst_memory offsets count from its start.
npu::Tensor npu_memory_tensor(GstMemory* memory, const npu::Device& device);
bool is_npu_memory(GstMemory* memory);

/// A pool of frames in such memory, at the layout that the caps have by themselves: it knows
/// GstVideoMeta and no alignment option, so one compiled graph serves it.
ObjectRef<GstBufferPool> make_pool(GstCaps* caps, const GstVideoInfo& info, guint min_buffers,
                                   GstAllocator* allocator);

/// Memory that wraps an output of the NPU, without a copy; it holds the tensor.
MemoryRef wrap_output(std::shared_ptr<const npu::Tensor> tensor, gsize size_bytes);

}  // namespace gstnpu
