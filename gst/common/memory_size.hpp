// Refuses memory that claims more than its file descriptor has: touching it would kill the process.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Throws npu::Error where memory with a file descriptor has fewer than `end` bytes, counted from
/// the memory's start. Other memory passes.
void require_bytes(GstMemory* memory, gsize end);
/// Checks `length` memories of a buffer from `index` on. A single one needs `end` bytes; several
/// are mapped as one copy, so each needs its whole size.
void require_bytes(GstBuffer* buffer, guint index, guint length, gsize end);
/// Checks the whole size of every memory of a buffer.
void require_bytes(GstBuffer* buffer);

}  // namespace gstnpu
