#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace gstnpu_test {

/// Another program beside the test, ended with it.
class ChildProcess {
 public:
  /// Its standard output and errors go to a file, which is emptied. `environment`: NAME=value,
  /// added to the test's own.
  ChildProcess(const std::vector<std::string>& command, const std::string& output,
               const std::vector<std::string>& environment = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }
  /// Returns when each of its threads has stopped.
  void halt() const;
  void go_on() const { send(SIGCONT); }
  /// Sends the signal and waits for the end.
  void end(int signal);
  /// Waits; what waitpid() says.
  int wait();

 private:
  pid_t pid_;
  bool has_ended_ = false;
};

/// A pipeline of GStreamer in a process of its own, which ends with it; an error is in the output.
class PipelineProcess : public ChildProcess {
 public:
  PipelineProcess(const std::string& line, const std::string& output,
                  std::vector<std::string> environment = {});
};

/// Finds a program in PATH or a folder for administrators; empty: not found.
std::string find_program(const std::string& name);

}  // namespace gstnpu_test
