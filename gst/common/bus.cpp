#include "bus.hpp"

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

bool is_about_a_file(npu::ErrorCode code) {
  return code == npu::ErrorCode::kIo || code == npu::ErrorCode::kNotFound;
}

struct Code {
  GQuark domain;
  gint code;
};

Code to_gst_code(npu::ErrorCode code) {
  switch (code) {
    case npu::ErrorCode::kNotFound:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};
    case npu::ErrorCode::kIo:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ};
    case npu::ErrorCode::kInvalidArgument:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS};
    case npu::ErrorCode::kUnsupported:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED};
    case npu::ErrorCode::kIncompatible:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE};
    case npu::ErrorCode::kOutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT};
    case npu::ErrorCode::kDeviceLost:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED};
    case npu::ErrorCode::kTimeout:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_BUSY};
    case npu::ErrorCode::kCompileFailed:  // npucore.video tells it from the next ones
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT};
    case npu::ErrorCode::kCancelled:
    case npu::ErrorCode::kInternal:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED};
  }
  return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED};
}

void post(GstElement* element, GstMessageType type, Code code, const std::string& text,
          const std::string& details) {
  // File names may be of any bytes, and bindings of other languages want UTF-8.
  gst_element_message_full(
      element, type, code.domain, code.code, g_utf8_make_valid(text.c_str(), -1),
      details.empty() ? nullptr : g_strdup(details.c_str()), __FILE__, GST_FUNCTION, __LINE__);
}

std::string property_for(npu::NextStep step) {
  switch (step) {
    case npu::NextStep::kReshape:
      return ", by the property \"input-shape\", like input-shape=1,3,640,640";
    case npu::NextStep::kNameInput:
      return "; compile the model by npu-compile with --frame and --input, and give the blob to "
             "npuimport";
    case npu::NextStep::kNone:
      break;
  }
  return {};
}

}  // namespace

void post_error(GstElement* element, const std::exception& error, const std::string& file) {
  std::string text = error.what();
  const auto* npu_error = dynamic_cast<const npu::Error*>(&error);
  const npu::NextStep next_step = npu_error ? npu_error->next_step() : npu::NextStep::kNone;
  text += property_for(next_step);
  if (!file.empty() && text.find(file) == std::string::npos) {
    text = file + ": " + text;
  } else if (next_step == npu::NextStep::kNone && !file.empty() && npu_error &&
             is_about_a_file(npu_error->code())) {
    text += "; check the property \"model\" and that the file can be read";
  }
  post(element, GST_MESSAGE_ERROR,
       to_gst_code(npu_error ? npu_error->code() : npu::ErrorCode::kInternal), text,
       npu_error ? npu_error->driver_log() : std::string());
}

void post_warning(GstElement* element, const std::string& text) {
  post(element, GST_MESSAGE_WARNING, {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS}, text, {});
}

void post_info(GstElement* element, const std::string& text) {
  // gst-launch-1.0 shows only the details of such messages.
  post(element, GST_MESSAGE_INFO, {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS}, text, text);
}

void post_progress(GstElement* element, GstProgressType type, const std::string& text) {
  gst_element_post_message(
      element, gst_message_new_progress(GST_OBJECT(element), type, "compile", text.c_str()));
}

}  // namespace gstnpu
