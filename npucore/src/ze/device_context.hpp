#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/error.hpp>

#include "handle.hpp"
#include "memory_users.hpp"
#include "npu_device.hpp"

namespace npu::ze {

/// The graph extension's table, with the version that says which of its slots exist.
class GraphTable {
 public:
  GraphTable() = default;
  GraphTable(const ze_graph_dditable_ext_t& table, std::uint32_t version)
      : table_(&table), version_(version) {}

  /// Slots of later minor versions must not even be read: the driver's table is shorter.
  bool has(std::uint32_t minor) const { return ze_npu_version_has(version_, 1, minor); }
  std::uint32_t version() const { return version_; }
  /// Whether a blob's bytes may stay in place as long as the graph lives.
  bool takes_persistent_blobs() const { return has(13); }
  /// Whether the driver itself tells the compiler to profile layers.
  bool asks_for_layer_times() const { return has(5); }
  const ze_graph_dditable_ext_t* operator->() const { return table_; }
  const ze_graph_dditable_ext_t& operator*() const { return *table_; }

 private:
  const ze_graph_dditable_ext_t* table_ = nullptr;
  std::uint32_t version_ = 0;
};

/// Throws Error(kUnsupported) if the driver gives none.
GraphTable graph_table_of(const NpuDevice& npu);

/// A context on one NPU, with what every call on it needs. Address-stable: handles point into it.
struct DeviceContext {
  /// Throws if the driver gives no context or no graph table.
  explicit DeviceContext(NpuDevice device);

  /// The meaning of a failed call's result. The one judge of lost devices: it marks the context as
  /// lost if the result says so.
  ErrorCode judge(ze_result_t result) const;
  /// As judge(), for an execution, where any sign of trouble means a loss: an unknown error is a
  /// poisoned context, and a device in low power has dropped its work.
  ErrorCode judge_execution(ze_result_t result) const;
  /// Asks the device itself: its fences stay "not ready" for ever once it hangs.
  bool tells_its_loss() const;
  /// Throws the error of a failed call in this context, as judged.
  void check(ze_result_t result, const char* call, const char* advice = "") const {
    if (result != ZE_RESULT_SUCCESS) [[unlikely]] {
      fail(result, call, advice);
    }
  }

  NpuDevice npu;
  const Loader& loader;
  GraphTable graph;
  const ze_graph_profiling_dditable_ext_t* profiling = nullptr;  ///< null: not offered
  std::uint32_t queue_ordinal = 0;
  /// Driver and loader both have command lists whose graph arguments can be changed.
  bool mutable_lists = false;
  bool imports_host_memory = false;
  /// Set when the device hung or the context is poisoned: nothing new is made in it.
  mutable std::atomic<bool> lost = false;
  mutable MemoryUsers memory_users;  ///< to tell before memory is freed
  Context context;

 private:
  [[noreturn]] void fail(ze_result_t result, const char* call, const char* advice) const;
};

/// Makes a mutable one if the driver has them.
CommandList make_command_list(const DeviceContext& device);
Fence make_fence(const DeviceContext& device, const CommandQueue& queue);

/// The driver's account of its compiler and its blobs.
struct GraphCapabilities {
  Version compiler;  ///< 0.0: no compiler
  std::uint32_t newest_opset = 0;
  Version elf;      ///< 0.0.0 before graph extension 1.6
  Version runtime;  ///< 0.0.0 before graph extension 1.6
};
GraphCapabilities graph_capabilities(const NpuDevice& npu, const GraphTable& graph);

/// DDR that the device can use, in bytes.
std::uint64_t memory_bytes(const DeviceContext& device);

/// The path of the driver's shared object.
std::string driver_library(const GraphTable& graph);

}  // namespace npu::ze
