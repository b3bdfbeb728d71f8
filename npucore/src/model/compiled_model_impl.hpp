#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>

#include "base/mapped_file.hpp"
#include "base/page_buffer.hpp"
#include "base/pimpl.hpp"
#include "device/device_impl.hpp"
#include "ir/blob_container.hpp"
#include "ir/states.hpp"
#include "ze/graph.hpp"

#include "completion.hpp"
#include "session.hpp"

namespace npu::internal {

/// One argument of the graph, as a binding needs it.
struct BoundPort {
  std::uint32_t argument = 0;
  std::size_t size_bytes = 0;
  bool takes_strides = false;
};

/// The port with this name or tensor name. Throws Error(kNotFound) that lists all names; `what`:
/// "input" or "output".
std::size_t port_index(const std::vector<Port>& ports, const std::string& name, const char* what);

/// A variable of the model: two arguments of the graph that share a buffer.
struct Variable {
  Port port;  ///< named by the variable's id
  std::size_t size_bytes = 0;
  std::vector<std::uint32_t> arguments;
  std::vector<std::byte> initial;  ///< empty: zeros
};

/// Ports as the model or the blob's description gives them; empty if unknown.
struct PortHints {
  std::vector<Port> inputs, outputs;
  std::vector<ir::StateValue> states = {};
};

}  // namespace npu::internal

namespace npu {

/// A graph and all that it lives on. The members are made in this order and destroyed in reverse: a
/// graph may read its blob as long as it lives.
struct NPU_LOCAL CompiledModel::Impl {
  Impl(const Device& opened, const CompileOptions& options);

  /// Throws for a property that cannot be changed on a compiled model.
  void set_property(const std::string& name, const std::string& value);
  std::string get_property(const std::string& name) const;
  /// Includes the first inference's time, if there was one.
  LoadStats current_stats() const;

  /// Creates the graph, loads its weights unless that is deferred, and takes its ports. Their names
  /// come from `hints` if it has the same number of ports.
  void load(const ze::GraphSource& source, const internal::PortHints& hints,
            const std::function<void()>& before_weights = {});
  /// Loads deferred weights, before the first request of a session.
  void initialize(internal::Session& in_session);
  /// The model's session in the device's context. If the context was lost, loads the graph from its
  /// own binary into a new one. Throws if that fails; the next call tries again.
  std::shared_ptr<internal::Session> session();
  /// True if session() has to load the graph again.
  bool is_lost();
  /// Its thread calls the callbacks of this model's requests; made by the first call.
  std::shared_ptr<internal::Completion> completion();

  /// Undoes a load() that failed half-way.
  void unload();

  Device public_device;
  std::shared_ptr<Device::Impl> device;
  internal::SharedProperties properties;  ///< the model's own win over the device's
  base::MappedFile file;                  ///< an imported blob
  base::PageBuffer in_memory;             ///< a blob that was imported from memory
  std::shared_ptr<const void> received;   ///< a blob that a helper process compiled
  std::string name;
  std::vector<Port> inputs, outputs;
  std::vector<internal::BoundPort> bound_inputs, bound_outputs;
  std::vector<internal::Variable> variables;
  std::uint32_t argument_count = 0;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
  ir::BuiltWith built_with;
  LoadStats stats;  ///< without the two times below
  std::atomic<std::uint64_t> initialize_ns = 0;
  /// Set once, by the first request that is done.
  std::atomic<std::uint64_t> first_inference_ns = 0;

 private:
  std::shared_ptr<internal::Session> load_again();
  void take_ports(const std::vector<ze::ArgumentInfo>& arguments, const internal::PortHints& hints);
  void take_port(const ze::ArgumentInfo& argument, const std::vector<Port>& hints);
  void take_variable(const ze::ArgumentInfo& argument, const std::string& id,
                     const std::vector<ir::StateValue>& states);

  std::mutex session_mutex_;  // guards everything below
  std::shared_ptr<internal::Completion> completion_;
  std::shared_ptr<internal::Session> session_;
  ze::GraphSource source_;  ///< of the session's graph; without an IR's bytes
};

}  // namespace npu
