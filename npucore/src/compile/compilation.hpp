#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "model/compiled_model_impl.hpp"
#include "properties/compiler_options.hpp"

#include "cache.hpp"

namespace npu::internal {

/// One compilation, from the options to a graph on the device.
class Compilation {
 public:
  /// Checks model and options; throws for what cannot be compiled. `cancelled` may be null.
  Compilation(const Device& device, const Model& model, const CompileOptions& options,
              const std::atomic<bool>* cancelled = nullptr);

  /// Throws Error(kCancelled) between two phases once `cancelled` is set.
  std::shared_ptr<CompiledModel::Impl> run();

 private:
  void enter(CompilePhase phase) const;
  void check_cancelled() const;
  ir::SerializedModel serialize(ze::GraphSource& source);
  std::string cache_key() const;
  void use_cache();
  bool load_from_cache(const ModelCache& cache, const std::string& key);
  void compile_in_turn();
  void compile_in_driver();

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Model& model_;
  const CompileOptions& options_;
  const std::atomic<bool>* const cancelled_;
  std::shared_ptr<CompiledModel::Impl> compiled_;
  Compiler compiler_;
  CompilerConfig config_;
};

}  // namespace npu::internal
