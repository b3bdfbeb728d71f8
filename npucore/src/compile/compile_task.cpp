#include "compile_task.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "properties/build_flags.hpp"

namespace npu::internal {
namespace {

using base::text;

/// False for layers that compute nothing: what becomes of them says nothing, and some are dropped
/// before the compiler sees the model.
bool computes(const ir::LayerName& layer) {
  constexpr std::array kOthers{"Const", "Parameter", "Result", "Identity"};
  return std::find(kOthers.begin(), kOthers.end(), layer.type) == kOthers.end();
}

std::string describe_refused(const std::vector<ir::LayerName>& refused, std::size_t of) {
  constexpr std::size_t kMostNamed = 10;
  std::string names;
  for (std::size_t i = 0; i < std::min(refused.size(), kMostNamed); ++i) {
    names += text(i == 0 ? "" : ", ", base::quoted(refused[i].name), " (", refused[i].type, ')');
  }
  if (refused.size() > kMostNamed) {
    names += text(" and ", refused.size() - kMostNamed, " more");
  }
  return text("; the compiler refuses ", refused.size(), " of ", of, " layers: ", names);
}

}  // namespace

std::string model_title(const Model& model) {
  return text("model ", base::quoted(model.name()), " (",
              model.path().empty() ? "in memory" : model.path().string(), ')');
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
  task.layers = ir::layer_names(model);
  task.memory_limit_bytes = properties.get(property::compile_memory);
  return task;
}

Error with_refused_layers(const Error& refusal, const std::vector<ir::LayerName>& layers,
                          const std::string& taken) {
  const auto runs = names_in(taken);
  if (runs.empty()) return refusal;
  std::vector<ir::LayerName> refused;
  std::size_t all = 0;
  for (const auto& layer : layers) {
    if (!computes(layer)) continue;
    ++all;
    if (!runs.contains(layer.name)) {
      refused.push_back(layer);
    }
  }
  const std::string words =
      refused.empty() ? "; the compiler does not tell the layer: npu-compile --why finds it"
                      : describe_refused(refused, all);
  return {refusal.code(), refusal.what() + words, refusal.driver_log(), refusal.next_step()};
}

std::unordered_set<std::string> names_in(const std::string& list) {
  std::unordered_set<std::string> names;
  for (std::size_t at = list.find('<'); at != list.npos; at = list.find('<', at)) {
    const std::size_t end = list.find('>', at);
    if (end == list.npos) break;
    names.insert(list.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

}  // namespace npu::internal
