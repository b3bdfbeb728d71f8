#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/page_buffer.hpp"
#include "core/device_state.hpp"
#include "ir/blob_container.hpp"
#include "npucore/compiled_model.hpp"
#include "ze/graph.hpp"

namespace npu::internal {

/// One argument of the graph, with what binding it needs.
struct BoundPort {
  std::uint32_t argument = 0;
  std::size_t size_bytes = 0;
};

/// Ports as the model or the blob's description tells them; empty where nothing is known.
struct PortHints {
  std::vector<Port> inputs, outputs;
};

/// A graph and all it lives on. Members are in the order in which they must be made, and unmade the
/// other way round: a graph may read its blob for as long as it lives.
struct CompiledModelState {
  CompiledModelState(const Device& opened, const CompileOptions& options);

  /// Throws for what cannot be changed once a model is compiled.
  void set_property(const std::string& name, const std::string& value);
  std::string get_property(const std::string& name) const;
  void set_workload(WorkloadType type);
  /// With the first inference's time, where there was one.
  LoadStats current_stats() const;

  /// Creates the graph, loads its weights and takes its ports; names come from `hints` where it has
  /// the same number of ports.
  void load(const ze::GraphSource& source, const PortHints& hints);

  /// Undoes a load() that failed half-way.
  void unload();

  Device public_device;
  std::shared_ptr<DeviceState> device;
  SharedProperties properties;  ///< the device's and over them the model's own
  base::MappedFile file;        ///< of an imported blob
  base::PageBuffer in_memory;   ///< of a blob that was imported from memory
  ze::CommandQueue queue;
  std::optional<ze::Graph> graph;

  std::mutex arguments_mutex;  ///< guards the graph's argument values between setting and appending
  std::atomic<int> in_flight = 0;

  std::string name;
  std::vector<Port> inputs, outputs;
  std::vector<BoundPort> bound_inputs, bound_outputs;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
  ir::BuiltWith built_with;
  LoadStats stats;  ///< first_inference_ns of it is not used: see below
  /// Set once, by the first request that is done.
  std::atomic<std::uint64_t> first_inference_ns = 0;

 private:
  void take_port(const ze::ArgumentInfo& argument, const std::vector<Port>& hints);
};

}  // namespace npu::internal
