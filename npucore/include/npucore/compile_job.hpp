#pragma once

#include <chrono>
#include <memory>

#include <npucore/compiled_model.hpp>
#include <npucore/export.hpp>

namespace npu {

namespace internal {
struct CompileJobState;
}

/// A compilation on a thread of its own. Copies share it. Compilations of a process run one after
/// the other.
class NPU_API CompileJob {
 public:
  ~CompileJob();  ///< does not wait: without cancel() the compilation goes on and fills the caches
  CompileJob(const CompileJob&);
  CompileJob(CompileJob&&) noexcept;
  CompileJob& operator=(const CompileJob&);
  CompileJob& operator=(CompileJob&&) noexcept;

  /// What it does now, and for how long it has been at it. From any thread.
  CompileProgress progress() const;
  /// False when `timeout` passed first. Never throws what the compilation threw.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;
  /// Waits. Throws what the compilation threw, and Error(kCancelled) after a cancel() that came
  /// before its end.
  CompiledModel get() const;
  /// Returns at once. A compilation that waits for its turn never starts; the driver cannot be
  /// interrupted: what it compiles now it compiles to the end, on its own, and nobody gets the
  /// result. A process that exits meanwhile does not wait for it: stdio is flushed and the process
  /// ends with its own exit code, without the exit handlers and static destructors of whoever is
  /// loaded. That holds for an exit by a thread that opened a device or started a job.
  void cancel() noexcept;

 private:
  friend NPU_API CompileJob compile_async(const Device& device, const Model& model,
                                          const CompileOptions& options);
  explicit CompileJob(std::shared_ptr<internal::CompileJobState> state);
  std::shared_ptr<internal::CompileJobState> state_;
};

/// CompiledModel::compile() on a thread; returns at once. options.progress is called from there.
NPU_API CompileJob compile_async(const Device& device, const Model& model,
                                 const CompileOptions& options = {});

}  // namespace npu
