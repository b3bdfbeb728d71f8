#pragma once

#include <string>
#include <string_view>

#include <npucore/error.hpp>

namespace npu::base {

/// Hands the message to the sink. A sink that throws is the caller's own fault: it is let through.
void log(LogLevel level, std::string_view message);

/// Whether a message of this level reaches anybody: asked before a costly message is put together.
bool log_enabled(LogLevel level);

/// What the default sink prints: "LOG_NONE", "LOG_ERROR", ... "LOG_TRACE".
std::string log_limit();
void set_log_limit(std::string_view name);

}  // namespace npu::base
