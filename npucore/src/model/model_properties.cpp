// Answers to a compiled model's properties.
#include <map>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "device/device_properties.hpp"
#include "device/requirements.hpp"
#include "properties/compiler_options.hpp"
#include "properties/property_table.hpp"
#include "properties/property_values.hpp"
#include "ze/device_queries.hpp"

#include "compiled_model_impl.hpp"

namespace npu {
namespace {

using base::text;
using Answer = std::string (*)(const CompiledModel::Impl&);

std::string from_cache(const CompiledModel::Impl& model) {
  return internal::property_text(model.stats.from == LoadedFrom::kCache ||
                                 model.stats.from == LoadedFrom::kDriverCache);
}

const std::map<std::string, Answer>& answers() {
  // Never destroyed, as property_rows().
  static const auto* const table = new std::map<std::string, Answer>{
      {"SUPPORTED_PROPERTIES",
       [](const CompiledModel::Impl&) { return internal::supported_properties(true); }},
      {"OPTIMAL_NUMBER_OF_INFER_REQUESTS",
       [](const CompiledModel::Impl& model) {
         return std::to_string(
             internal::optimal_number_of_requests(model.device->info, model.properties.values()));
       }},
      {"NETWORK_NAME", [](const CompiledModel::Impl& model) { return model.name; }},
      {"EXECUTION_DEVICES",
       [](const CompiledModel::Impl& model) {
         return std::string(
             to_string(model.device->info.is_software ? DeviceKind::kSoftware : DeviceKind::kNpu));
       }},
      {"LOADED_FROM_CACHE", from_cache},
      {"RUNTIME_REQUIREMENTS",
       [](const CompiledModel::Impl& model) {
         return internal::requirements_text(model.built_with);
       }},
      {"COMPATIBILITY_CHECK",
       [](const CompiledModel::Impl& model) {
         return internal::compatibility(model.built_with, model.device->info);
       }},
  };
  return *table;
}

}  // namespace

std::string CompiledModel::Impl::get_property(const std::string& name_asked) const {
  const internal::PropertyRow* row = internal::find_property_row(name_asked);
  if (!row) {
    internal::fail_unknown_property(name_asked);
  }
  if (!row->info.of_model) {
    throw Error(ErrorCode::kUnsupported,
                text("the property ", name_asked, " belongs to devices: ", row->info.meaning));
  }
  if (name_asked == property::log_level.name) return base::log_limit();
  if (row->info.access == Access::kReadOnly) return answers().at(name_asked)(*this);
  const Properties set = properties.values();
  if (name_asked == property::max_tiles.name && !set.is_set(name_asked)) {
    return std::to_string(internal::max_tiles(device->info, set));
  }
  return set.get(name_asked);
}

void CompiledModel::Impl::set_property(const std::string& name_asked, const std::string& value) {
  Properties one;
  one.set(name_asked, value);
  if (!internal::find_property_row(name_asked)->info.changeable) {
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

void CompiledModel::Impl::unload() {
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

LoadStats CompiledModel::Impl::current_stats() const {
  LoadStats current = stats;
  current.initialize_ns = initialize_ns.load(std::memory_order_relaxed);
  current.first_inference_ns = first_inference_ns.load(std::memory_order_relaxed);
  return current;
}

}  // namespace npu
