#pragma once

#include <atomic>

namespace npu::base {

/// Set in a child of a process that had opened a device.
inline std::atomic<bool> process_was_forked = false;

/// True in a child that owns nothing of the device: destructors leave the device alone there.
inline bool is_forked_child() {
  return process_was_forked.load(std::memory_order_relaxed);
}

/// Called when the process first asks for a device.
void watch_for_forks();
[[noreturn]] void fail_after_fork();

/// Throws Error(kUnsupported) in such a child: a fork copies neither driver threads nor mappings of
/// the device.
inline void refuse_after_fork() {
  if (is_forked_child()) [[unlikely]] {
    fail_after_fork();
  }
}

}  // namespace npu::base
