#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "cache/model_cache.hpp"
#include "model/compiled_model_impl.hpp"
#include "properties/compiler_options.hpp"

#include "cancellation.hpp"
#include "compiler_choice.hpp"
#include "helper_client.hpp"

namespace npu::internal {

/// One compilation, from the options to a graph on the device.
class Compilation {
 public:
  /// Checks model and options; throws if they cannot be compiled. `cancellation`: the job's; null
  /// if nobody can cancel. Jobs compile in a helper process unless NPUCORE_COMPILE says otherwise.
  Compilation(const Device& device, const Model& model, const CompileOptions& options,
              Cancellation* cancellation = nullptr);

  /// Throws Error(kCancelled) after a request to cancel.
  std::shared_ptr<CompiledModel::Impl> run();

 private:
  void enter(CompilePhase phase) const;
  void check_cancelled() const;
  /// A flag for waits in between; null if nobody can cancel.
  const std::atomic<bool>* cancelled() const;
  void describe_by_model();
  std::string cache_key() const;
  void use_cache();
  bool load_from_cache(const ModelCache& cache, const std::string& key);
  void compile_graph();
  bool compile_with_library();
  void load_made(ContentView made, const char* by);
  void compile_in_turn();
  void compile_in_driver();
  void load_from(const ze::GraphSource& model);
  ir::SerializedModel serialize(ze::GraphSource& source);
  void compile_in_helper();
  HelperTask helper_task();
  PortHints port_hints() const;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Model& model_;
  const CompileOptions& options_;
  Cancellation* const cancellation_;
  /// Destroyed late: its end waits for the helper's, which takes a while after much memory, and a
  /// job's result is there before.
  std::unique_ptr<HelperClient> helper_;
  std::shared_ptr<CompiledModel::Impl> compiled_;
  std::optional<CompilerChoice> choice_;  ///< from the constructor on
  bool replaces_entry_;                   ///< the cache's entry is not to be loaded
};

}  // namespace npu::internal
