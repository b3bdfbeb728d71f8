#include "compile_task.hpp"

#include <utility>

#include "base/text.hpp"
#include "properties/build_flags.hpp"

namespace npu::internal {

std::string model_title(const Model& model) {
  return base::text("model ", base::quoted(model.name()), " (", model.path().string(), ')');
}

bool choose_weightless(const Model& model, const Compiler& compiler, const Properties& properties,
                       CompilerConfig& config, LoadStats& stats) {
  stats.serializer = choose_serializer(compiler, properties);
  const bool forced = properties.get(property::serializer) == Serializer::kNoWeightsCopy;
  if (!forced && !ir::can_be_weightless(model)) {
    stats.serializer = Serializer::kAllWeightsCopy;
  }
  if (stats.serializer == Serializer::kAllWeightsCopy) return false;
  config.insert_or_assign(property::serializer.name, to_string(stats.serializer));
  return true;
}

CompileTask compile_task(const Model& model, const Compiler& compiler, const Properties& properties,
                         CompilerConfig config, LoadStats& stats) {
  CompileTask task;
  task.title = model_title(model);
  task.weightless = choose_weightless(model, compiler, properties, config, stats);
  if (task.weightless) {
    ir::require_weightless(model);
    task.threshold_bytes = properties.get(property::serializer_threshold);
  }
  task.model = ir::prepare_text(model, compiler.version);
  task.build_flags = build_flags(ir::flag_ports(model, compiler.version), compiler.version, config);
  task.memory_limit_bytes = properties.get(property::compile_memory);
  return task;
}

}  // namespace npu::internal
