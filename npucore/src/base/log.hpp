#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

namespace npu::base {

/// Hands the message to the sink. A sink that throws is the caller's own fault: it is let through.
void log(LogLevel level, std::string_view message);

/// "<what>: <error>", where nothing may be thrown: in a destructor, on a thread of the library's
/// own.
void log_failure(const char* what, const std::exception& error) noexcept;

/// While one lives, what its thread logs is kept for its end. To be made before a lock is taken: a
/// sink may call the library again.
class LogsAfterwards {
 public:
  LogsAfterwards();
  LogsAfterwards(const LogsAfterwards&) = delete;
  LogsAfterwards& operator=(const LogsAfterwards&) = delete;
  ~LogsAfterwards();

 private:
  friend void log(LogLevel level, std::string_view message);
  std::vector<std::pair<LogLevel, std::string>> messages_;  ///< those of an inner one too
};

/// Whether a message of this level reaches anybody: asked before a costly message is put together.
bool log_enabled(LogLevel level);

/// What the default sink prints: "LOG_NONE", "LOG_ERROR", ... "LOG_TRACE".
std::string log_limit();
void set_log_limit(std::string_view name);

}  // namespace npu::base
