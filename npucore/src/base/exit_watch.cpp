#include "exit_watch.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace npu::base {
namespace {

std::atomic<int> running = 0;

void end_at_once(int status, void*) {
  if (running.load() == 0) return;
  std::fflush(nullptr);
  ::_exit(status);
}

/// Handlers run last in, first out, and what a compiler loads after this registers its own later.
/// But thread-local objects of the exiting thread go first of all: theirs is then the last one in.
struct RegistersAtTheLastMoment {
  RegistersAtTheLastMoment() = default;
  RegistersAtTheLastMoment(const RegistersAtTheLastMoment&) = delete;
  RegistersAtTheLastMoment& operator=(const RegistersAtTheLastMoment&) = delete;
  ~RegistersAtTheLastMoment() {
    if (running.load() != 0) {
      ::on_exit(end_at_once, nullptr);
    }
  }
  void touch() const {}
};

/// The thread's code and the handler must stay where they are.
void keep_library_loaded() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&keep_library_loaded), &info) != 0 && info.dli_fname) {
    static_cast<void>(::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
  }
}

}  // namespace

RunsWhileExiting::RunsWhileExiting() {
  [[maybe_unused]] static const bool prepared = [] {
    keep_library_loaded();
    // For a process whose exiting thread never called watch_exit().
    return ::on_exit(end_at_once, nullptr) == 0;
  }();
  ++running;
}

RunsWhileExiting::~RunsWhileExiting() {
  --running;
}

void watch_exit() {
  thread_local const RegistersAtTheLastMoment watch;
  watch.touch();
}

}  // namespace npu::base
