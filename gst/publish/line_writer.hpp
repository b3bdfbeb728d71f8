#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "sink.hpp"

namespace gstnpu {

/// Writes whole lines to a file or to stdout. Every failure throws std::system_error.
class LineWriter final : public Sink {
 public:
  /// An empty path or "-" is stdout. What is no regular file (a terminal, a pipe) gets each line at
  /// once.
  LineWriter(const std::string& path, const SinkOptions& options);
  /// Writes what is left, as far as that succeeds; flush() first to learn about failures.
  ~LineWriter() override;

  bool write(std::string_view line) override;
  bool flush() override;
  void interrupt() override;
  void resume() override;

 private:
  bool is_stdout() const;
  bool lock_stdout(std::unique_lock<std::timed_mutex>& lock) const;
  bool wait_for_reader() const;
  std::size_t write_some(std::string_view text) const;

  int fd_;
  int interrupt_fd_;  // readable while it is interrupted
  bool is_regular_;
  bool flush_always_;
  std::string pending_;
};

}  // namespace gstnpu
