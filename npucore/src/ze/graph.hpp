#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npucore/types.hpp"
#include "ze/device_context.hpp"

namespace npu::ze {

struct GraphSource {
  ze_graph_format_t format = ZE_GRAPH_FORMAT_NATIVE;
  std::span<const std::byte> bytes;
  std::string build_flags;     ///< NGRAPH_LITE only
  ze_graph_flags_t flags = 0;  ///< left out before graph extension 1.5, which has no place for them
  /// What the driver's cache takes for the bytes' hash: they hold addresses. Left out before 1.14.
  std::optional<std::uint64_t> input_hash;
  std::string what;  ///< for messages: "compiling model 'x'"
};

struct ArgumentInfo {
  std::uint32_t index = 0;  ///< for pfnSetArgumentValue
  bool is_input = false;
  std::string name;  ///< friendly name where the driver knows it, else the argument's own
  std::vector<std::string> tensor_names;
  ElementType type = ElementType::kUnknown;  ///< of the memory that is bound
  Shape shape;                               ///< a dynamic dimension has its upper bound
  bool takes_strides = false;                ///< tensors need not be dense
};

/// A graph of the driver. The source's bytes must live as long as the graph when its format is
/// NATIVE.
class Graph {
 public:
  /// Throws with the driver's log.
  Graph(const DeviceContext& device, const GraphSource& source);

  ze_graph_handle_t handle() const { return handle_.get(); }
  /// Loads the weights into the device, the way the driver wants it.
  void initialize(const CommandQueue& queue) const;
  std::vector<ArgumentInfo> arguments() const;
  bool loaded_from_cache() const { return (flags_ & kFromCache) != 0; }
  /// Executing then needs a profiling query.
  bool profiling_enabled() const { return (flags_ & kProfiling) != 0; }
  /// The driver's blob. `copy` holds it where the driver cannot give a view.
  std::span<const std::byte> native_binary(std::vector<std::byte>& copy) const;

 private:
  static constexpr ze_graph_properties_flags_t kFromCache =
      ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE;
  static constexpr ze_graph_properties_flags_t kProfiling =
      ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED;

  void read_properties(bool profiling_asked);
  void initialize_by_list(const CommandQueue& queue) const;

  const DeviceContext* device_;
  GraphHandle handle_;
  std::uint32_t argument_count_ = 0;
  std::uint32_t init_stage_ = 0;
  ze_graph_properties_flags_t flags_ = 0;
};

/// Places for the profiling data of executions in flight, one for each.
struct ProfilingSlots {
  ProfilingPool pool;
  std::vector<ProfilingQuery> queries;
};
/// Throws Error(kUnsupported) where the driver has no profiling extension.
ProfilingSlots make_profiling_slots(const DeviceContext& device, const Graph& graph,
                                    std::uint32_t count);
/// Of the last execution that was recorded with the query.
std::vector<ze_profiling_layer_info> profiled_layers(const DeviceContext& device,
                                                     const ProfilingQuery& query);

}  // namespace npu::ze
