#pragma once

#include <functional>
#include <string_view>

#include <npucore/export.hpp>

namespace npu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Sends the library's messages to `sink`, from any thread. The default sink writes errors and
/// warnings to stderr; the property LOG_LEVEL and the environment variables NPU_LOG_LEVEL and
/// OV_NPU_LOG_LEVEL (none|error|warning|info|debug|trace, in any case and with LOG_ in front if you
/// like; the first wins) change its limit. An empty sink restores the default.
NPU_API void set_log_sink(LogSink sink);

}  // namespace npu
