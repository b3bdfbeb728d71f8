#include "helper_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

constexpr const char* kProgram = "npu-compile-helper";
constexpr auto kPidfd = static_cast<idtype_t>(3);  // P_PIDFD; glibc has the name since 2.36

[[noreturn]] void fail(const char* call, int error) {
  throw Error(ErrorCode::kNotFound, text("no helper process to compile in could be started: ", call,
                                         ": ", base::errno_text(error)));
}

struct Pair {
  base::UniqueFd ours, theirs;
};

void set_nonblocking(const base::UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

/// Moves the descriptor above the standard streams' numbers, which an application may have closed.
base::UniqueFd clear_of_streams(base::UniqueFd fd) {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  base::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved) {
    fail("fcntl", errno);
  }
  return moved;
}

Pair make_socket() {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("socketpair", errno);
  }
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

Pair make_pipe() {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    fail("pipe2", errno);
  }
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

/// The steps of posix_spawn() in the child.
class SpawnPlan {
 public:
  SpawnPlan(int socket, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // Ctrl-C goes to the application only, which then cancels or goes on.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  pid_t spawn(const fs::path& program, std::vector<char*>& arguments) const {
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
    if (error != 0) {
      fail(program.c_str(), error);
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

fs::path helper_program() {
  if (const char* wanted = ::secure_getenv("NPUCORE_HELPER_PATH"); wanted && *wanted) return wanted;
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&helper_program), &info) == 0 || !info.dli_fname) {
    return {};
  }
  // A relative name was relative to the folder the process was in when it loaded the library.
  if (!fs::path(info.dli_fname).is_absolute()) return {};
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(info.dli_fname, error).parent_path();
  for (const char* place : {"helper", "../libexec/npucore", "../../libexec/npucore", "npucore"}) {
    const fs::path candidate = folder / place / kProgram;
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate, error);
  }
  return {};
}

HelperProcess::HelperProcess(const fs::path& program, const std::vector<std::string>& arguments) {
  Pair socket = make_socket(), errors = make_pipe();
  std::string name = kProgram;
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers = {name.data()};
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  socket.ours = clear_of_streams(std::move(socket.ours));
  errors.ours = clear_of_streams(std::move(errors.ours));
  socket.theirs = clear_of_streams(std::move(socket.theirs));
  errors.theirs = clear_of_streams(std::move(errors.theirs));
  pid_ = SpawnPlan(socket.theirs.get(), errors.theirs.get()).spawn(program, pointers);
  pidfd_ = clear_of_streams(base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))));
  set_nonblocking(socket.ours);
  set_nonblocking(errors.ours);
  socket_ = std::move(socket.ours);
  errors_ = std::move(errors.ours);
}

HelperProcess::~HelperProcess() {
  if (base::is_forked_child()) return;  // the process is the parent's
  kill();
  try {
    wait();
  } catch (const std::exception&) {
    // It has ended; there was no memory for the words that tell how.
  }
}

void HelperProcess::kill() noexcept {
  std::scoped_lock lock(mutex_);
  if (pid_ < 0) return;
  killed_by_us_ = true;
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  } else {
    ::kill(pid_, SIGKILL);
  }
}

/// waitid(), by descriptor if there is one: an application may reap all its children, and the
/// system reuse their numbers.
bool HelperProcess::wait_id(siginfo_t& info, int flags) const {
  int result = -1;
  do {
    result = pidfd_ ? ::waitid(kPidfd, static_cast<id_t>(pidfd_.get()), &info, flags)
                    : ::waitid(P_PID, static_cast<id_t>(pid_), &info, flags);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Looks first and clears the number under the lock, so that kill() never hits another process.
/// Kills the process's own children while nobody else's group can have its number.
std::string HelperProcess::wait() {
  if (pid_ < 0) return ending_;
  siginfo_t info = {};
  wait_id(info, WEXITED | WNOWAIT);
  std::scoped_lock lock(mutex_);
  if (info.si_pid == pid_) {
    ::kill(-pid_, SIGKILL);
  }
  wait_id(info, WEXITED);
  pid_ = -1;
  if (info.si_pid == 0) {  // the application's own handler of SIGCHLD was faster
    ending_ = "it ended";
  } else if (info.si_code == CLD_EXITED) {
    ending_ = text("it ended with exit code ", info.si_status);
  } else {
    signal_ = info.si_status;
    ending_ = text("it was ended by signal ", signal_, " (", ::strsignal(signal_), ')');
  }
  return ending_;
}

std::string HelperProcess::wait_or_kill() {
  constexpr std::chrono::milliseconds kLook{1}, kLongest{1000};
  for (auto waited = kLook; pid_ >= 0; waited += kLook) {
    siginfo_t info = {};
    if (!wait_id(info, WEXITED | WNOWAIT | WNOHANG) || info.si_pid != 0) break;
    if (waited > kLongest) {
      kill();
      break;
    }
    std::this_thread::sleep_for(kLook);
  }
  return wait();
}

}  // namespace npu::internal
