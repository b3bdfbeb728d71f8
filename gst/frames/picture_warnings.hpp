#pragma once

#include <gst/video/video.h>

#include <string>
#include <vector>

namespace gstnpu {

/// Warnings about a stream whose pictures look different to a model than to people, one sentence
/// each, with the cure.
std::vector<std::string> picture_warnings(const GstVideoInfo& info);

/// A warning about the orientation in a stream's tags; empty where there is none.
std::string orientation_warning(const GstTagList* tags);

/// Whether the frame has two fields, by the stream's caps or its own flags.
bool is_interlaced(const GstVideoInfo& info, GstBuffer* frame);

}  // namespace gstnpu
