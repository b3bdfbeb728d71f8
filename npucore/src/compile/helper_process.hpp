#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace npu::internal {

/// The program that compiles: the environment variable NPUCORE_HELPER_PATH, else near this library.
/// Empty where there is none.
std::filesystem::path helper_program();

/// A child process with a socket at its standard input and output, and a pipe at its standard
/// error. It gets no other file descriptor, has a process group of its own, and is gone when this
/// object is.
class HelperProcess {
 public:
  /// Throws Error(kNotFound) where the program cannot be started.
  HelperProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess();

  int socket() const { return socket_.get(); }  ///< does not block
  int errors() const { return errors_.get(); }  ///< does not block
  /// Readable once the process has ended; -1 on kernels that have none.
  int pidfd() const { return pidfd_.get(); }

  /// Ends it at once. From any thread.
  void kill() noexcept;
  /// Waits until it has ended and tells how: "it was ended by signal 6 (Aborted)".
  std::string wait();
  /// The same for one that seems to end by itself: one second, then it is killed.
  std::string wait_or_kill();
  /// After wait(): whether a SIGKILL that was not ours ended it.
  bool was_killed() const { return signal_ == SIGKILL && !killed_by_us_; }

 private:
  bool wait_id(siginfo_t& info, int flags) const;

  base::UniqueFd socket_, errors_, pidfd_;
  std::mutex mutex_;  // guards all below
  pid_t pid_ = -1;    ///< -1 once it is nobody's number, or another's
  bool killed_by_us_ = false;
  int signal_ = 0;
  std::string ending_;
};

}  // namespace npu::internal
