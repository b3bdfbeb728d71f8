// GstMemory of the NPU, which upstream writes straight into.
#pragma once

#include <gst/gst.h>

#include <npucore/tensor.hpp>

#include "common/refs.hpp"

#include "tensor_recycler.hpp"

namespace gstnpu {

/// An allocator whose memory is read by the NPU in place: DMA-BUFs, which devices can fill too,
/// where the machine has a way to make them, else memory that only the CPU fills. Freed memory is
/// used again, also when a buffer pool discards its buffer.
ObjectRef<GstAllocator> make_allocator(const npu::Device& device);

/// Whether the allocator of make_allocator() makes DMA-BUFs.
bool makes_dmabufs(GstAllocator* allocator);

/// The tensor that `memory` is part of, in the same device context; an empty one for other memory.
/// gst_memory offsets count from its start.
npu::Tensor npu_memory_tensor(GstMemory* memory, const npu::Device& device);
/// The memory that `memory` is a part of; itself where it is no part.
GstMemory* root_of(GstMemory* memory);
bool is_npu_memory(GstMemory* memory);
bool is_npu_allocator(GstAllocator* allocator);

/// Memory that wraps an output of the NPU, without a copy; it holds it.
MemoryRef wrap_output(DeviceMemoryRef memory, gsize size_bytes);

}  // namespace gstnpu
