#include "core/compiled_model_state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "core/device_properties.hpp"
#include "core/property_table.hpp"
#include "npucore/error.hpp"
#include "ze/device_queries.hpp"

namespace npu::internal {
namespace {

using base::text;
using Clock = std::chrono::steady_clock;

std::uint64_t ns_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

ze_command_queue_priority_t queue_priority(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    case Priority::kHigh:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
    case Priority::kMedium:
      break;
  }
  return ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

/// The driver gives its own names to arguments that are no input or output of the model.
void require_plain_argument(const ze::ArgumentInfo& argument) {
  if (argument.name.rfind("vpux_ie_", 0) == 0)
    throw Error(ErrorCode::kUnsupported,
                text("the graph has the argument ", base::quoted(argument.name),
                     ": models with states or run-time shapes are not supported; export the model "
                     "with fixed shapes and without ReadValue"));
}

}  // namespace

CompiledModelState::CompiledModelState(const Device& opened, const CompileOptions& options)
    : public_device(opened), device(opened.state()) {
  const Properties effective = effective_properties(*device, options.properties);
  properties.set(effective);
  queue = ze::make_queue(device->ze, {queue_priority(effective.get(property::priority)),
                                      effective.get(property::turbo)});
  if (effective.is_set(property::workload_type))
    set_workload(effective.get(property::workload_type));
}

void CompiledModelState::set_workload(WorkloadType type) {
  ze::set_workload_type(
      device->ze, queue,
      type == WorkloadType::kEfficient ? ZE_WORKLOAD_TYPE_BACKGROUND : ZE_WORKLOAD_TYPE_DEFAULT);
}

void CompiledModelState::load(const ze::GraphSource& source, const PortHints& hints) {
  const auto create_start = Clock::now();
  graph.emplace(device->ze, source);
  stats.compile_ns = ns_since(create_start);
  stats.loaded_from_driver_cache = graph->loaded_from_cache();
  const auto initialize_start = Clock::now();
  graph->initialize(queue);
  stats.initialize_ns = ns_since(initialize_start);

  const auto arguments = graph->arguments();
  const auto input_count = static_cast<std::size_t>(std::count_if(
      arguments.begin(), arguments.end(), [](const auto& argument) { return argument.is_input; }));
  const bool same_counts =
      hints.inputs.size() == input_count && hints.outputs.size() == arguments.size() - input_count;
  const std::vector<Port> none;
  for (const auto& argument : arguments) {
    const auto& known = argument.is_input ? hints.inputs : hints.outputs;
    take_port(argument, same_counts ? known : none);
  }
}

void CompiledModelState::take_port(const ze::ArgumentInfo& argument,
                                   const std::vector<Port>& hints) {
  require_plain_argument(argument);
  auto& ports = argument.is_input ? inputs : outputs;
  auto& bound = argument.is_input ? bound_inputs : bound_outputs;
  Port port{argument.name, argument.tensor_names, argument.type, argument.shape};
  if (!hints.empty()) {
    const Port& hint = hints[ports.size()];
    if (!hint.name.empty()) port.name = hint.name;
    for (const auto& tensor_name : hint.tensor_names)
      if (!port.answers_to(tensor_name)) port.tensor_names.push_back(tensor_name);
  }
  bound.push_back({argument.index, port.size_bytes()});
  ports.push_back(std::move(port));
}

}  // namespace npu::internal
