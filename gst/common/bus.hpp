// What an element tells the application.
#pragma once

#include <gst/gst.h>

#include <exception>
#include <string>

namespace gstnpu {

/// The one place where exceptions become GST_MESSAGE_ERROR: domain and code by npu::ErrorCode, the
/// text names `file` where the message does not, the driver's words go into the details.
void post_error(GstElement* element, const std::exception& error, const std::string& file);
void post_warning(GstElement* element, const std::string& text);
/// What an application may show, and need not act upon.
void post_info(GstElement* element, const std::string& text);
void post_progress(GstElement* element, GstProgressType type, const std::string& text);

}  // namespace gstnpu
