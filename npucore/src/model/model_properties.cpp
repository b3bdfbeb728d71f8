// What a compiled model answers when it is asked for a property.
#include <map>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "device/device_properties.hpp"
#include "properties/compiler_options.hpp"
#include "properties/property_table.hpp"
#include "ze/device_queries.hpp"

#include "compiled_model_state.hpp"

namespace npu::internal {
namespace {

using base::text;
using Answer = std::string (*)(const CompiledModelState&);

std::string from_cache(const CompiledModelState& model) {
  return property_text(model.stats.from == LoadedFrom::kCache ||
                       model.stats.from == LoadedFrom::kDriverCache);
}

const std::map<std::string, Answer>& answers() {
  static const std::map<std::string, Answer> table = {
      {"SUPPORTED_PROPERTIES",
       [](const CompiledModelState&) { return supported_properties(true); }},
      {"NUM_STREAMS", [](const CompiledModelState&) { return std::string("1"); }},
      {"OPTIMAL_NUMBER_OF_INFER_REQUESTS",
       [](const CompiledModelState& model) {
         return std::to_string(
             optimal_number_of_requests(model.device->info, model.properties.values()));
       }},
      {"NETWORK_NAME", [](const CompiledModelState& model) { return model.name; }},
      {"EXECUTION_DEVICES",
       [](const CompiledModelState& model) {
         return std::string(
             to_string(model.device->info.is_software ? DeviceKind::kSoftware : DeviceKind::kNpu));
       }},
      {"LOADED_FROM_CACHE", from_cache},
      {"RUNTIME_REQUIREMENTS",
       [](const CompiledModelState& model) { return ir::describe(model.built_with); }},
  };
  return table;
}

}  // namespace

std::string CompiledModelState::get_property(const std::string& name_asked) const {
  const PropertyRow* row = find_property_row(name_asked);
  if (!row) {
    fail_unknown_property(name_asked);
  }
  if (!row->info.of_model) {
    throw Error(ErrorCode::kUnsupported,
                text("the property ", name_asked, " belongs to devices: ", row->info.meaning));
  }
  if (name_asked == property::log_level.name) return base::log_limit();
  if (row->info.access == Access::kReadOnly) return answers().at(name_asked)(*this);
  const Properties set = properties.values();
  if (name_asked == property::max_tiles.name && !set.is_set(name_asked)) {
    return std::to_string(max_tiles(device->info, set));
  }
  return set.get(name_asked);
}

void CompiledModelState::set_property(const std::string& name_asked, const std::string& value) {
  Properties one;
  one.set(name_asked, value);
  if (!find_property_row(name_asked)->info.changeable) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the property ", name_asked, " of ", base::quoted(name),
                     " can no longer be changed: set it on the device, or in CompileOptions, "
                     "before the model is compiled"));
  }
  if (one.is_set(property::log_level)) {
    base::set_log_limit(one.get(property::log_level));
  }
  if (one.is_set(property::workload_type)) {
    session()->queue.set_workload(one.get(property::workload_type));
  }
  properties.set(one);
}

void CompiledModelState::unload() {
  {
    std::scoped_lock lock(session_mutex_);
    session_.reset();
    source_ = {};
  }
  file = {};
  inputs.clear();
  outputs.clear();
  bound_inputs.clear();
  bound_outputs.clear();
  variables.clear();
}

LoadStats CompiledModelState::current_stats() const {
  LoadStats current = stats;
  current.initialize_ns = initialize_ns.load(std::memory_order_relaxed);
  current.first_inference_ns = first_inference_ns.load(std::memory_order_relaxed);
  return current;
}

}  // namespace npu::internal
