#include "compiled_model_impl.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_set>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "device/device_properties.hpp"

namespace npu {
namespace {

using base::text;
using internal::PortHints;
using internal::Session;
using internal::Variable;
using Clock = std::chrono::steady_clock;

std::uint64_t ns_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

/// The driver's own names for arguments that are no input or output of the model. A state's
/// argument adds the variable's id.
constexpr const char* kStatePrefixes[] = {"vpux_ie_read_value_", "vpux_ie_assign_"};

std::optional<std::string> variable_of(const ze::ArgumentInfo& argument) {
  for (const std::string prefix : kStatePrefixes) {
    if (argument.name.rfind(prefix, 0) == 0) return argument.name.substr(prefix.size());
  }
  return std::nullopt;
}

bool is_visible(const ze::ArgumentInfo& argument) {
  if (variable_of(argument)) return false;
  if (argument.name.rfind("vpux_ie_", 0) == 0) {
    throw Error(ErrorCode::kUnsupported,
                text("the graph has the argument ", base::quoted(argument.name),
                     ": shapes that are only known at run time are not supported; give the model "
                     "fixed or bounded shapes before it is compiled"));
  }
  return true;
}

}  // namespace

std::size_t internal::port_index(const std::vector<Port>& ports, const std::string& name,
                                 const char* what) {
  std::vector<std::string> known;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    if (ports[index].answers_to(name)) return index;
    known.push_back(ports[index].name);
    known.insert(known.end(), ports[index].tensor_names.begin(), ports[index].tensor_names.end());
  }
  throw Error(ErrorCode::kNotFound, text("no ", what, " is called ", base::quoted(name),
                                         "; there are: ", base::join(known, ", ")));
}

CompiledModel::Impl::Impl(const Device& opened, const CompileOptions& options)
    : public_device(opened), device(internal::Pimpl::live(opened, "Device")) {
  const Properties effective = internal::effective_properties(*device, options.properties);
  properties.set(effective);
}

void CompiledModel::Impl::load(const ze::GraphSource& source, const PortHints& hints,
                               const std::function<void()>& before_weights) {
  const auto create_start = Clock::now();
  auto made = std::make_shared<Session>(internal::place_on(device), properties.values(), source);
  stats.compile_ns = ns_since(create_start);
  stats.loaded_from_driver_cache = made->graph.loaded_from_cache();
  if (!properties.values().get(property::defer_weights_load)) {
    if (before_weights) {
      before_weights();
    }
    initialize(*made);
  }
  take_ports(made->graph.arguments(), hints);
  std::scoped_lock lock(session_mutex_);
  session_ = std::move(made);
  source_ = source;
}

void CompiledModel::Impl::initialize(Session& in_session) {
  if (const std::uint64_t took_ns = in_session.initialize()) {
    initialize_ns = took_ns;
  }
}

std::shared_ptr<Session> CompiledModel::Impl::session() {
  base::refuse_after_fork();
  const base::LogsAfterwards logs;
  std::scoped_lock lock(session_mutex_);
  if (session_->place.context->lost) {
    session_ = load_again();
  }
  return session_;
}

bool CompiledModel::Impl::is_lost() {
  std::scoped_lock lock(session_mutex_);
  return session_->place.context->lost;
}

std::shared_ptr<internal::Completion> CompiledModel::Impl::completion() {
  base::refuse_after_fork();
  std::scoped_lock lock(session_mutex_);
  if (completion_) return completion_;
  const Properties set = properties.values();
  const bool pin = set.get(property::cpu_pinning);
  completion_ = set.get(property::exclusive_async_requests)
                    ? internal::Completion::shared(pin)
                    : std::make_shared<internal::Completion>(pin);
  return completion_;
}

std::shared_ptr<Session> CompiledModel::Impl::load_again() {
  file.check_unchanged();
  if (source_.format == ze::GraphSource::Format::kModel) {
    std::vector<std::byte> copy;
    in_memory = base::PageBuffer::copy_of(session_->graph.native_binary(copy));
    source_ = {.bytes = in_memory.bytes(),
               .profile_layers = source_.profile_layers,
               .what = text("loading ", base::quoted(name), " again after the device was lost")};
  }
  auto made = std::make_shared<Session>(internal::place_on(device), properties.values(), source_);
  made->initialize();
  base::log(LogLevel::kWarning,
            text(device->info.name, " was lost: ", base::quoted(name), " was loaded again"));
  return made;
}

void CompiledModel::Impl::take_ports(const std::vector<ze::ArgumentInfo>& arguments,
                                     const PortHints& hints) {
  argument_count = static_cast<std::uint32_t>(arguments.size());
  std::size_t counts[2] = {};  // outputs, inputs
  for (const auto& argument : arguments) counts[argument.is_input] += is_visible(argument);
  const bool same_counts =
      hints.inputs.size() == counts[true] && hints.outputs.size() == counts[false];
  const std::vector<Port> none;
  for (const auto& argument : arguments) {
    const auto& known = argument.is_input ? hints.inputs : hints.outputs;
    if (const auto id = variable_of(argument)) {
      take_variable(argument, *id, hints.states);
    } else {
      take_port(argument, same_counts ? known : none);
    }
  }
}

void CompiledModel::Impl::take_variable(const ze::ArgumentInfo& argument, const std::string& id,
                                        const std::vector<ir::StateValue>& states) {
  auto found = std::find_if(variables.begin(), variables.end(),
                            [&](const Variable& variable) { return variable.port.name == id; });
  if (found == variables.end()) {
    Variable variable;
    variable.port = {id, {}, argument.type, argument.shape};
    variable.size_bytes = variable.port.size_bytes();
    for (const auto& state : states) {
      if (state.id == id && state.initial.size() == variable.size_bytes) {
        variable.initial = state.initial;
      }
    }
    found = variables.insert(variables.end(), std::move(variable));
  }
  found->arguments.push_back(argument.index);
}

void CompiledModel::Impl::take_port(const ze::ArgumentInfo& argument,
                                    const std::vector<Port>& hints) {
  auto& ports = argument.is_input ? inputs : outputs;
  auto& bound = argument.is_input ? bound_inputs : bound_outputs;
  Port port{argument.name, argument.tensor_names, argument.type, argument.shape};
  if (!hints.empty()) {
    const Port& hint = hints[ports.size()];
    if (!hint.name.empty()) {
      port.name = hint.name;
    }
    std::unordered_set<std::string> known(port.tensor_names.begin(), port.tensor_names.end());
    known.insert(port.name);
    for (const auto& tensor_name : hint.tensor_names) {
      if (known.insert(tensor_name).second) {
        port.tensor_names.push_back(tensor_name);
      }
    }
  }
  bound.push_back({argument.index, port.size_bytes(), argument.takes_strides});
  ports.push_back(std::move(port));
}

}  // namespace npu
