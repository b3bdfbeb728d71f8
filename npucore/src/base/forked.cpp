#include "forked.hpp"

#include <pthread.h>

#include <npucore/error.hpp>

namespace npu::base {

void watch_for_forks() {
  static const int watched = ::pthread_atfork(
      nullptr, nullptr, [] { process_was_forked.store(true, std::memory_order_relaxed); });
  static_cast<void>(watched);
}

void fail_after_fork() {
  throw Error(ErrorCode::kUnsupported,
              "this process was forked after its parent had opened an NPU, which a child cannot "
              "use: fork first and open the device in the child, or start a new program (exec)");
}

}  // namespace npu::base
