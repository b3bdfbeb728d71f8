#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "publish/sinks/sink.hpp"

namespace gstnpu_test {

/// Another program beside the test, ended with it.
class ChildProcess {
 public:
  /// Its standard output and errors go to a file, which is emptied.
  ChildProcess(const std::vector<std::string>& command, const std::string& output);
  ~ChildProcess() { end(SIGKILL); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(int signal) const { g_subprocess_send_signal(process_.get(), signal); }
  /// Returns when each of its threads has stopped.
  void halt() const;
  void go_on() const { send(SIGCONT); }
  /// Sends the signal and waits for the end.
  void end(int signal) const;
  /// Waits; what waitpid() says.
  int wait() const;

 private:
  gstnpu::ObjectRef<GSubprocess> process_;
};

/// Command of a pipeline of GStreamer, which ends with it; an error is in the output.
std::vector<std::string> pipeline_command(const std::string& line);

/// Finds a program in PATH or a folder for administrators; empty: not found.
std::string find_program(const std::string& name);

}  // namespace gstnpu_test
