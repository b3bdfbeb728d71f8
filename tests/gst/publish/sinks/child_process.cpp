#include "child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace gstnpu_test {
namespace {

/// Pointers into the texts, as exec() wants them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool is_set_by(const std::vector<std::string>& environment, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(environment.begin(), environment.end(),
                     [&name](const std::string& set) { return set.starts_with(name); });
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& output,
                           const std::vector<std::string>& environment) {
  std::vector<std::string> arguments = command, variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_set_by(environment, *variable)) {
      variables.emplace_back(*variable);
    }
  }
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(variables);
  const int file =
      ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  EXPECT_GE(file, 0) << output;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(file);
  EXPECT_GT(pid_, 0) << command[0];
}

ChildProcess::~ChildProcess() {
  end(SIGKILL);
}

void ChildProcess::halt() const {
  send(SIGSTOP);
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
  EXPECT_TRUE(WIFSTOPPED(status));
}

void ChildProcess::end(int signal) {
  if (has_ended_) return;
  send(signal);
  wait();
}

int ChildProcess::wait() {
  int status = 0;
  if (!std::exchange(has_ended_, true)) {
    ::waitpid(pid_, &status, 0);
  }
  return status;
}

PipelineProcess::PipelineProcess(const std::string& line, const std::string& output,
                                 std::vector<std::string> environment)
    : ChildProcess({"/proc/self/exe"}, output, [&] {
        environment.push_back("NPU_TEST_PIPELINE=" + line);
        return environment;
      }()) {}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace gstnpu_test
