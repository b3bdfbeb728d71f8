#include "log.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "forked.hpp"
#include "text.hpp"

namespace npu {
namespace {

constexpr const char* kLevelNames[] = {"error", "warning", "info", "debug"};

/// Names of limits, quietest first; each lets through the level before it.
constexpr std::string_view kLimitNames[] = {"LOG_NONE", "LOG_ERROR", "LOG_WARNING",
                                            "LOG_INFO", "LOG_DEBUG", "LOG_TRACE"};
constexpr int kDefaultLimit = 2;

/// "warning", "WARNING" and "LOG_WARNING" are one; -1 for an unknown name.
int limit_of(std::string_view name) {
  std::string word = base::upper(std::string(name));
  if (word.rfind("LOG_", 0) != 0) {
    word.insert(0, "LOG_");
  }
  for (int limit = 0; limit < static_cast<int>(std::size(kLimitNames)); ++limit) {
    if (kLimitNames[limit] == word) return limit;
  }
  return -1;
}

int limit_from_environment() {
  for (const char* variable : {"NPU_LOG_LEVEL", "OV_NPU_LOG_LEVEL"}) {
    const char* wanted = std::getenv(variable);
    if (const int limit = wanted ? limit_of(wanted) : -1; limit >= 0) return limit;
  }
  return kDefaultLimit;
}

std::atomic<int>& stderr_limit() {
  static std::atomic<int> limit = limit_from_environment();
  return limit;
}

bool passes(LogLevel level) {
  return static_cast<int>(level) < stderr_limit().load(std::memory_order_relaxed);
}

/// The target of messages: the application's sink, else the standard error stream.
struct SinkHolder {
  std::mutex mutex;  // guards sink
  std::shared_ptr<const LogSink> sink;
};

// Never destroyed: objects that log may outlive every static of this library.
SinkHolder& holder() {
  static auto* const instance = new SinkHolder;
  return *instance;
}
[[maybe_unused]] const auto& kMadeWhenLoaded = holder();  // made at load, before any fork

/// In a forked child a thread of the parent may hold the lock for ever: then do without it.
std::unique_lock<std::mutex> lock_holder() {
  if (base::is_forked_child()) return {holder().mutex, std::try_to_lock};
  return std::unique_lock(holder().mutex);
}

std::shared_ptr<const LogSink> current_sink() {
  const auto lock = lock_holder();
  return lock ? holder().sink : nullptr;
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto shared = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  if (const auto lock = lock_holder()) {
    holder().sink.swap(shared);
  }
}

namespace base {
namespace {

/// The outermost one of this thread.
thread_local LogsAfterwards* afterwards = nullptr;
/// The innermost one of this thread.
thread_local CollectedWarnings* collected = nullptr;

}  // namespace

LogsAfterwards::LogsAfterwards() {
  if (!afterwards) {
    afterwards = this;
  }
}

LogsAfterwards::~LogsAfterwards() {
  if (afterwards != this) return;
  afterwards = nullptr;
  for (const auto& [level, message] : messages_) log(level, message);
}

CollectedWarnings::CollectedWarnings() : outer_(std::exchange(collected, this)) {}

CollectedWarnings::~CollectedWarnings() {
  collected = outer_;
}

void log(LogLevel level, std::string_view message) {
  const auto print = [message](const char* what) {
    std::fprintf(stderr, "npucore %s: %.*s\n", what, static_cast<int>(message.size()),
                 message.data());
  };
  if (afterwards) {
    afterwards->messages_.emplace_back(level, message);
    return;
  }
  if (collected && level == LogLevel::kWarning) {
    collected->texts_.emplace_back(message);
  }
  if (auto sink = current_sink()) {
    try {
      (*sink)(level, message);
    } catch (...) {  // threads and destructors of this library must not end by it
      print("error: the log sink threw at");
    }
  } else if (passes(level)) {
    print(kLevelNames[static_cast<int>(level)]);
  }
}

void log_failure(const char* what, const std::exception& error) noexcept {
  try {
    log(LogLevel::kError, text(what, ": ", error.what()));
  } catch (const std::exception&) {
    std::fprintf(stderr, "npucore error: %s\n", what);
  }
}

bool log_enabled(LogLevel level) {
  return current_sink() || passes(level);
}

std::string log_limit() {
  return std::string(kLimitNames[stderr_limit().load(std::memory_order_relaxed)]);
}

void set_log_limit(std::string_view name) {
  if (const int limit = limit_of(name); limit >= 0) {
    stderr_limit().store(limit, std::memory_order_relaxed);
  }
}

}  // namespace base
}  // namespace npu
