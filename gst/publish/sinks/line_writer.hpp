#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "interrupt.hpp"
#include "sink.hpp"

namespace gstnpu {

/// Writes whole lines to a file or to stdout. Every failure throws std::system_error. What is out
/// of a line that fails is taken back from a file; elsewhere, and behind half a line that was there
/// before, the next line begins on a new one.
class LineWriter final : public Sink {
 public:
  /// An empty path or "-" is stdout. What is no regular file (a terminal, a pipe) gets each line at
  /// once.
  LineWriter(const std::string& path, const SinkOptions& options);
  ~LineWriter() override;

  bool write(std::string_view line) override;
  bool flush() override;
  std::size_t held() const override { return held_; }
  void interrupt() override;
  void resume() override;

 private:
  bool lock_stdout(std::unique_lock<std::timed_mutex>& lock) const;
  bool wait_for_reader() const;
  std::size_t write_some(std::string_view text) const;
  std::size_t write_pending();
  bool write_lines();
  void note_out(std::size_t bytes);
  void lose_line();
  bool take_back(std::size_t bytes) const;

  const Interrupt interrupt_;  // before what would have to be closed where it fails
  const bool is_stdout_;
  const int fd_;  // of a file that may have stdout's number, where that was closed
  bool is_regular_;
  bool flush_always_;
  std::string pending_;
  std::size_t held_ = 0;   // lines of pending_
  std::size_t begun_ = 0;  // bytes of its first line that are out
  bool is_cut_ = false;    // what is out ends within a line that was lost, or of another writer
};

}  // namespace gstnpu
