#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace npu::internal {

/// The program that compiles: the environment variable NPUCORE_HELPER_PATH, else one near this
/// library. Empty if there is none.
std::filesystem::path helper_program();

/// A child process with a socket as its standard input and output, and a pipe as its standard
/// error. It gets no other file descriptor and a process group of its own, and ends with this
/// object.
class HelperProcess {
 public:
  /// Throws Error(kNotFound) if the program cannot be started.
  HelperProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess();

  int socket() const { return socket_.get(); }  ///< does not block
  int errors() const { return errors_.get(); }  ///< does not block
  /// Readable once the process has ended; -1 if the kernel has no pidfds.
  int pidfd() const { return pidfd_.get(); }

  /// Kills it at once. From any thread.
  void kill() noexcept;
  /// Waits for its end and tells how it ended: "it was ended by signal 6 (Aborted)".
  std::string wait();
  /// As wait(), for a process that is about to end: kills it after one second.
  std::string wait_or_kill();
  /// After wait(): whether a SIGKILL of somebody else ended it.
  bool was_killed() const { return signal_ == SIGKILL && !killed_by_us_; }

 private:
  bool wait_id(siginfo_t& info, int flags) const;

  base::UniqueFd socket_, errors_, pidfd_;
  std::mutex mutex_;  // guards all below
  pid_t pid_ = -1;    ///< -1 once the number is free for others
  bool killed_by_us_ = false;
  int signal_ = 0;
  std::string ending_;
};

}  // namespace npu::internal
