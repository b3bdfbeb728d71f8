#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <npucore/error.hpp>

namespace npu::base {

/// Hands the message to the sink. A sink that throws is the caller's own fault: it is let through.
void log(LogLevel level, std::string_view message);

/// "<what>: <error>", where nothing may be thrown: in a destructor, on a thread of the library's
/// own.
void log_failure(const char* what, const std::exception& error) noexcept;

/// Whether a message of this level reaches anybody: asked before a costly message is put together.
bool log_enabled(LogLevel level);

/// What the default sink prints: "LOG_NONE", "LOG_ERROR", ... "LOG_TRACE".
std::string log_limit();
void set_log_limit(std::string_view name);

}  // namespace npu::base
