#pragma once

#include <gst/gst.h>

#include "frame_path.hpp"

namespace gstnpu {

/// Reads the path to the pad anew where it is older than the buffer.
void renew_path(GstBuffer* buffer, GstPad* sink, FramePath* path);

/// Makes the GstNpuInferenceMetas of a writable buffer say where things are in this frame, whatever
/// elements did to it since the inference: as its metas were told, else by the path, and by a
/// GstVideoCropMeta that came since. What an element dropped is there again; metas of objects are
/// not, because the objects are gone too. Throws npu::Error as the path does.
void follow_frame(GstBuffer* buffer, const FramePath& path);

}  // namespace gstnpu
