#pragma once

#include <gst/video/video.h>

#include <string>
#include <vector>

namespace gstnpu {

/// What about a stream's pictures makes a model see something else than people do, one sentence
/// each, with the cure.
std::vector<std::string> picture_warnings(const GstVideoInfo& info);

/// Likewise, by a stream's tags; empty where they say nothing.
std::string orientation_warning(const GstTagList* tags);

/// Whether the frame has two fields, as its stream or itself says.
bool is_interlaced(const GstVideoInfo& info, GstBuffer* frame);

}  // namespace gstnpu
