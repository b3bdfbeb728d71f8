#pragma once

#include <functional>
#include <string_view>

#include "npucore/export.hpp"

namespace npu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Sends the library's messages to `sink`, from any thread. The default sink writes errors and
/// warnings to stderr; the environment variable NPU_LOG_LEVEL=error|warning|info|debug changes its
/// limit. An empty sink restores the default.
NPU_API void set_log_sink(LogSink sink);

}  // namespace npu
