#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace gstnpu {

/// Writes whole lines to a file or to stdout. Every failure throws std::system_error. One thread,
/// but for interrupt().
class LineWriter {
 public:
  struct Options {
    bool append = false;        ///< keep what the file holds
    bool flush_always = false;  ///< each line reaches the file at once
  };

  /// An empty path or "-" is stdout. What is no regular file (a terminal, a pipe) gets each line at
  /// once.
  LineWriter(const std::string& path, const Options& options);
  /// Writes what is left, as far as that succeeds; flush() first to learn about failures.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// False: interrupted before a reader had taken all; the next call goes on from there.
  bool write(std::string_view line);
  bool flush();

  /// From any thread: nobody waits for a reader any more, until resume().
  void interrupt();
  void resume();

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
