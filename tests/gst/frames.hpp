// Frames for tests of elements, and what came of them.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "common/refs.hpp"

namespace gstnpu::test {

/// The buffer behind `fd`, which it owns, as a GstDmaBufMemory, whatever it really is.
MemoryRef wrap_dmabuf(int fd, gsize size);
/// A new buffer, every byte of value `fill`; a memfd where there is no udmabuf
/// (SOFTNPU_ALLOW_MEMFD=1).
MemoryRef make_dmabuf_memory(gsize size, guint8 fill);
/// A frame in one memory; a pointer's owner keeps its reference.
BufferRef frame_in(MemoryRef memory);
BufferRef frame_in(GstMemory* memory);

/// The first tensor's values. Empty when there is none.
std::vector<float> first_tensor(GstBuffer* buffer);

}  // namespace gstnpu::test
