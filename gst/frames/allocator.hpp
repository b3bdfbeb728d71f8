// GstMemory of the NPU that upstream writes into directly.
#pragma once

#include <gst/gst.h>

#include <npucore/tensor.hpp>

#include "common/refs.hpp"

#include "tensor_recycler.hpp"

namespace gstnpu {

/// An allocator whose memory the NPU reads in place: DMA-BUFs, which devices can fill too, where
/// the machine can make them, else memory that only the CPU fills. Freed memory is reused, even
/// when a buffer pool discards its buffer.
ObjectRef<GstAllocator> make_allocator(const npu::Device& device);

/// Whether the allocator of make_allocator() makes DMA-BUFs.
bool makes_dmabufs(GstAllocator* allocator);

/// The tensor that `memory` is part of if it belongs to the same device context; else an empty one.
/// Offsets of gst_memory count from the tensor's start.
npu::Tensor npu_memory_tensor(GstMemory* memory, const npu::Device& device);
/// The memory that `memory` is a part of, or `memory` itself.
GstMemory* root_of(GstMemory* memory);
bool is_npu_memory(GstMemory* memory);
bool is_npu_allocator(GstAllocator* allocator);

/// Wraps an output of the NPU without a copy, and holds it.
MemoryRef wrap_output(DeviceMemoryRef memory, gsize size_bytes);

}  // namespace gstnpu
