#include "file_size_limit.hpp"

#include <ctime>

namespace npu::base {
namespace {

sigset_t only_that_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeLimitIsAnError::FileSizeLimitIsAnError() {
  const sigset_t signal = only_that_signal();
  ::pthread_sigmask(SIG_BLOCK, &signal, &before_);
}

/// Takes the pending signal away. It was sent to the writing thread, so no other thread's is lost.
FileSizeLimitIsAnError::~FileSizeLimitIsAnError() {
  if (::sigismember(&before_, SIGXFSZ) == 1) return;
  const sigset_t signal = only_that_signal();
  const timespec at_once = {};
  ::sigtimedwait(&signal, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace npu::base
