#pragma once

#include <cstdint>
#include <string>

#include <npucore/compiled_model.hpp>

#include "ir/serialize.hpp"
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
};

/// "model 'x' (x.xml)"
std::string model_title(const Model& model);

/// Whether the weights go by their address; notes the choice in `stats` and in `config`.
bool choose_weightless(const Model& model, const Compiler& compiler, const Properties& properties,
                       CompilerConfig& config, LoadStats& stats);

/// Prepares a model for a compiler in another process; the serializer goes into `stats`.
CompileTask compile_task(const Model& model, const Compiler& compiler, const Properties& properties,
                         CompilerConfig config, LoadStats& stats);

}  // namespace npu::internal
