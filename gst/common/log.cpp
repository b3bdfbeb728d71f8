#include "log.hpp"

#include <mutex>
#include <string>

#include <npucore/error.hpp>

GST_DEBUG_CATEGORY(gstnpu_debug);

namespace gstnpu {
namespace {

GstDebugLevel to_gst_level(npu::LogLevel level) {
  switch (level) {
    case npu::LogLevel::kError:
      return GST_LEVEL_ERROR;
    case npu::LogLevel::kWarning:
      return GST_LEVEL_WARNING;
    case npu::LogLevel::kInfo:
      return GST_LEVEL_INFO;
    case npu::LogLevel::kDebug:
      return GST_LEVEL_DEBUG;
  }
  return GST_LEVEL_LOG;
}

void write_to_gst(npu::LogLevel level, std::string_view message) {
  GST_CAT_LEVEL_LOG(gstnpu_debug, to_gst_level(level), nullptr, "%.*s",
                    static_cast<int>(message.size()), message.data());
}

}  // namespace

void set_up_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    GST_DEBUG_CATEGORY_INIT(gstnpu_debug, "npu", 0, "Inference on NPUs");
    npu::set_log_sink(write_to_gst);
  });
}

}  // namespace gstnpu
