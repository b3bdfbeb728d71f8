#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argument.hpp"

namespace npu::ze {

/// The source of a graph. Drivers before graph extension 1.5 ignore the three switches.
struct GraphSource {
  enum class Format { kBlob, kModel };  ///< a driver's own binary, or a serialised IR

  Format format = Format::kBlob;
  std::span<const std::byte> bytes;
  std::string build_flags;      ///< for the compiler; models only
  bool profile_layers = false;  ///< executions can then be measured layer by layer
  bool bypass_cache = false;    ///< the driver's
  bool bytes_persist = false;   ///< the driver may use them in place: whole pages, from 1.13 on
  /// A hash of the bytes for the driver's cache: they hold addresses. Left out before 1.14.
  std::optional<std::uint64_t> input_hash;
  std::string what;  ///< for messages: "compiling model 'x'"
};

/// A graph of the driver. The bytes of a blob must live as long as the graph.
class Graph {
 public:
  /// Throws an error with the driver's log.
  Graph(const DeviceContext& device, const GraphSource& source);

  const DeviceContext& device() const { return *device_; }
  ze_graph_handle_t handle() const { return handle_.get(); }
  /// Held from setting the graph's argument values until they are in a list.
  std::mutex& arguments_mutex() const { return arguments_mutex_; }
  /// Loads the weights into the device, the way the driver wants it.
  void initialize(const CommandQueue& queue) const;
  std::vector<ArgumentInfo> arguments() const;
  bool loaded_from_cache() const { return (flags_ & kFromCache) != 0; }
  /// True if executing needs a profiling query.
  bool profiling_enabled() const { return (flags_ & kProfiling) != 0; }
  /// The driver's blob. `copy` holds it if the driver cannot give a view.
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
  mutable std::mutex arguments_mutex_;  // guards the graph's argument values in the driver
};

/// The layers of a model that the driver's compiler takes, as "<name><name>". Empty if the driver
/// does not tell, or fails.
std::string supported_layers(const DeviceContext& device, const GraphSource& model);

}  // namespace npu::ze
