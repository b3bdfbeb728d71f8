#pragma once

#include <atomic>

namespace npu::internal {

/// The right to be inside the driver's compiler. Compilers take as many cores and as much memory as
/// they find, so one thread of the process has it at a time.
class CompileTurn {
 public:
  /// Waits for it. Throws Error(kCancelled) once `cancelled`, which may be null, is set and
  /// wake_waiting() was called, and Error(kInvalidArgument) in the thread that has it.
  explicit CompileTurn(const std::atomic<bool>* cancelled);
  CompileTurn(const CompileTurn&) = delete;
  CompileTurn& operator=(const CompileTurn&) = delete;
  ~CompileTurn();

  static void wake_waiting();
};

}  // namespace npu::internal
