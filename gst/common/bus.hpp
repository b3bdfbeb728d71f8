// Messages from an element to the application.
#pragma once

#include <gst/gst.h>

#include <exception>
#include <string>

namespace gstnpu {

/// Posts an exception as GST_MESSAGE_ERROR; nothing else in the plugin does. Domain and code follow
/// from npu::ErrorCode, the text names `file` if the message does not, and the driver's words go
/// into the details.
void post_error(GstElement* element, const std::exception& error, const std::string& file);
void post_warning(GstElement* element, const std::string& text);
/// Posts text that an application may show but need not act upon.
void post_info(GstElement* element, const std::string& text);
void post_progress(GstElement* element, GstProgressType type, const std::string& text);

}  // namespace gstnpu
