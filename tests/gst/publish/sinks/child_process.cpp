#include "child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace gstnpu_test {

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& output) {
  std::vector<const gchar*> arguments;
  for (const std::string& argument : command) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  const gstnpu::ObjectRef<GSubprocessLauncher> launcher(
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_MERGE));
  g_subprocess_launcher_take_stdout_fd(
      launcher.get(),
      ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  g_subprocess_launcher_set_child_setup(
      launcher.get(), [](gpointer) { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }, nullptr, nullptr);
  process_.reset(g_subprocess_launcher_spawnv(launcher.get(), arguments.data(), nullptr));
  EXPECT_NE(process_, nullptr) << command[0];
}

void ChildProcess::halt() const {
  send(SIGSTOP);
  const pid_t pid = std::stoi(g_subprocess_get_identifier(process_.get()));
  siginfo_t stopped;
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &stopped, WSTOPPED), 0);
}

void ChildProcess::end(int signal) const {
  send(signal);
  wait();
}

int ChildProcess::wait() const {
  g_subprocess_wait(process_.get(), nullptr, nullptr);
  return g_subprocess_get_status(process_.get());
}

std::vector<std::string> pipeline_command(const std::string& line) {
  return {find_program("env"), "NPU_TEST_PIPELINE=" + line,
          std::filesystem::read_symlink("/proc/self/exe")};
}

std::string find_program(const std::string& name) {
  g_autofree gchar* found = g_find_program_in_path(name.c_str());
  const std::string of_administrators = "/usr/sbin/" + name;
  if (found) return found;
  return ::access(of_administrators.c_str(), X_OK) == 0 ? of_administrators : "";
}

}  // namespace gstnpu_test
