#include "helper_process.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <npu_vcl/spawn.hpp>
#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

constexpr const char* kProgram = "npu-compile-helper";
constexpr auto kPidfd = static_cast<idtype_t>(3);  // P_PIDFD; glibc has the name since 2.36

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

HelperProcess::HelperProcess(const fs::path& program,
                             const std::vector<std::string>& arguments) try {
  std::vector<std::string> words = {kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Ctrl-C is for the application, which then cancels or goes on.
  const npu_vcl::Child child = npu_vcl::spawn(program, std::move(words), environ, true);
  pid_ = child.pid;
  socket_.reset(child.socket);
  errors_.reset(child.errors);
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pidfd_.reset(npu_vcl::clear_of_streams(pidfd));
} catch (const npu_vcl::SpawnFailure& failure) {
  throw Error(ErrorCode::kNotFound, text("no helper process to compile in could be started: ",
                                         failure.what(), ": ", base::errno_text(failure.error)));
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
