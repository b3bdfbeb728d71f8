// Memory that claims more than its file descriptor has: to touch that would end the process.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Throws npu::Error where a memory of file descriptors has less than that. `end` counts from the
/// memory's begin. Other memory passes.
void require_bytes(GstMemory* memory, gsize end);
/// The same of `length` memories from `index` on, of which several are mapped as a copy of all of
/// them; `end`: of what is needed of a single one.
void require_bytes(GstBuffer* buffer, guint index, guint length, gsize end);
/// The same of all that the buffer claims.
void require_bytes(GstBuffer* buffer);

}  // namespace gstnpu
