#include "base/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace npu {
namespace {

constexpr const char* kLevelNames[] = {"error", "warning", "info", "debug"};

LogLevel limit_from_environment() {
  const char* wanted = std::getenv("NPU_LOG_LEVEL");
  for (int level = 0; wanted && level < 4; ++level)
    if (std::string_view(wanted) == kLevelNames[level]) return static_cast<LogLevel>(level);
  return LogLevel::kWarning;
}

LogLevel stderr_limit() {
  static const LogLevel limit = limit_from_environment();
  return limit;
}

struct SinkHolder {
  std::mutex mutex;  // guards sink
  std::shared_ptr<const LogSink> sink;
};

// Never destroyed: objects that log may outlive every static of this library.
SinkHolder& holder() {
  static auto& instance = *std::make_unique<SinkHolder>().release();
  return instance;
}

std::shared_ptr<const LogSink> current_sink() {
  std::scoped_lock lock(holder().mutex);
  return holder().sink;
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto shared = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  std::scoped_lock lock(holder().mutex);
  holder().sink = std::move(shared);
}

namespace base {

void log(LogLevel level, std::string_view message) {
  if (auto sink = current_sink()) {
    (*sink)(level, message);
  } else if (level <= stderr_limit()) {
    std::fprintf(stderr, "npucore %s: %.*s\n", kLevelNames[static_cast<int>(level)],
                 static_cast<int>(message.size()), message.data());
  }
}

bool log_enabled(LogLevel level) {
  return current_sink() || level <= stderr_limit();
}

}  // namespace base
}  // namespace npu
