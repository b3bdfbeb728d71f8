#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

namespace npu::base {

/// Hands the message to the sink. Where that throws, prints it.
void log(LogLevel level, std::string_view message);

/// Logs "<what>: <error>" where nothing may be thrown: in a destructor, on a thread of the library.
void log_failure(const char* what, const std::exception& error) noexcept;

/// Holds back its thread's log messages until its end. Make it before taking a lock: a sink may
/// call the library again.
class LogsAfterwards {
 public:
  LogsAfterwards();
  LogsAfterwards(const LogsAfterwards&) = delete;
  LogsAfterwards& operator=(const LogsAfterwards&) = delete;
  ~LogsAfterwards();

 private:
  friend void log(LogLevel level, std::string_view message);
  std::vector<std::pair<LogLevel, std::string>> messages_;  ///< those of inner ones too
};

/// Keeps copies of its thread's warnings.
class CollectedWarnings {
 public:
  CollectedWarnings();
  CollectedWarnings(const CollectedWarnings&) = delete;
  CollectedWarnings& operator=(const CollectedWarnings&) = delete;
  ~CollectedWarnings();
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  friend void log(LogLevel level, std::string_view message);
  CollectedWarnings* const outer_;
  std::vector<std::string> texts_;
};

/// Whether a message of this level reaches anybody: ask before building a costly one.
bool log_enabled(LogLevel level);

/// The default sink's limit: "LOG_NONE", "LOG_ERROR", ... "LOG_TRACE".
std::string log_limit();
void set_log_limit(std::string_view name);

}  // namespace npu::base
