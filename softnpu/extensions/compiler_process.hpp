#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>

#include <npu_vcl/message.hpp>

#include "base/unique_fd.hpp"

namespace softnpu {

/// A child process that serves a compiler library by messages (npu_vcl/message.hpp). It ends with
/// this object, at end(), or by itself once nobody can ask it.
class CompilerProcess {
 public:
  /// Throws Failure if it cannot be started. It must be ready within `start_limit`.
  explicit CompilerProcess(const std::string& program,
                           std::chrono::milliseconds start_limit = std::chrono::minutes(1));
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;
  ~CompilerProcess() { end(); }

  /// Takes one request at a time. Throws Failure, with the program's last words, if no answer
  /// comes.
  npu_vcl::Message ask(const npu_vcl::Message& request);
  /// Kills it. From any thread; a thread that waits for an answer then gets none.
  void end() noexcept;
  /// True if another process is needed.
  bool ended() const;

 private:
  void send(const npu_vcl::Message& message);
  npu_vcl::Message receive();
  void wait_until_ready();
  int milliseconds_left();
  void wait_for(short what);
  void read_errors();
  [[noreturn]] void fail(const std::string& what);

  const std::string program_;
  const pid_t parent_;  // the process is still this one's child after a fork()
  const std::chrono::steady_clock::time_point ready_before_;
  UniqueFd socket_, errors_;
  std::atomic<pid_t> pid_ = -1;
  npu_vcl::Decoder decoder_;
  std::string words_;  // the last text that it printed
  bool ready_ = false;
};

}  // namespace softnpu
