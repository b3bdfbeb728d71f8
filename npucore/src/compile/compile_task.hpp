#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/error.hpp>

#include "ir/serialize.hpp"
#include "ir/support.hpp"
#include "properties/compiler_options.hpp"

namespace npu::internal {

/// A compilation for another process.
struct CompileTask {
  std::string title = {};  ///< "model 'x' (x.xml)", for messages
  ir::PreparedText model = {};
  bool weightless = false;
  std::uint64_t threshold_bytes = 0;  ///< weightless: smaller constants are copied
  std::string build_flags = {};
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none
  std::vector<ir::LayerName> layers = {};
};

/// "model 'x' (x.xml)"
std::string model_title(const Model& model);

/// Whether the weights go by their address; notes the choice in `stats` and in `config`.
bool choose_weightless(const Model& model, const Compiler& compiler, const Properties& properties,
                       CompilerConfig& config, LoadStats& stats);

/// Prepares a model for a compiler in another process; the serializer goes into `stats`.
CompileTask compile_task(const Model& model, const Compiler& compiler, const Properties& properties,
                         CompilerConfig config, LoadStats& stats);

/// A compiler's refusal, with the layers that it refuses. `taken` has those that it takes, as
/// "<name><name>"; empty if it does not tell.
Error with_refused_layers(const Error& refusal, const std::vector<ir::LayerName>& layers,
                          const std::string& taken);
/// The names in "<a><b>", which may have any character but these two.
std::unordered_set<std::string> names_in(const std::string& list);

}  // namespace npu::internal
