#pragma once

#include <string>
#include <string_view>

namespace gstnpu {

/// Writes whole lines to a file or to stdout. Every failure throws std::system_error. One thread.
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

  void write(std::string_view line);
  void flush();

 private:
  bool is_stdout() const;

  int fd_;
  bool flush_always_;
  std::string pending_;
};

}  // namespace gstnpu
