#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "ze/handle.hpp"
#include "ze/npu_device.hpp"

namespace npu::ze {

/// The graph extension's table together with the version that says which of its slots exist.
class GraphTable {
 public:
  GraphTable() = default;
  GraphTable(const ze_graph_dditable_ext_t& table, std::uint32_t version)
      : table_(&table), version_(version) {}

  /// Slots of minor versions past this one must not even be read: the driver's table is shorter.
  bool has(std::uint32_t minor) const { return ze_npu_version_has(version_, 1, minor); }
  std::uint32_t version() const { return version_; }
  const ze_graph_dditable_ext_t* operator->() const { return table_; }
  const ze_graph_dditable_ext_t& operator*() const { return *table_; }

 private:
  const ze_graph_dditable_ext_t* table_ = nullptr;
  std::uint32_t version_ = 0;
};

/// A context on one NPU and what every call on it needs. Address-stable: handles point into it.
struct DeviceContext {
  /// Throws where the driver gives no context or no graph table.
  explicit DeviceContext(NpuDevice device);

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
  Context context;
};

struct QueueOptions {
  ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
  bool turbo = false;  ///< left out, with a log message, where the driver has no such option
  /// The device runs one list after the other. Only where has_device_sync() says so; turbo is then
  /// left out.
  bool device_sync = false;
};

bool has_device_sync(const DeviceContext& device);
CommandQueue make_queue(const DeviceContext& device, const QueueOptions& options);
/// A mutable one where the driver has them.
CommandList make_command_list(const DeviceContext& device);
Fence make_fence(const DeviceContext& device, const CommandQueue& queue);
EventPool make_event_pool(const DeviceContext& device, std::uint32_t count);
Event make_event(const DeviceContext& device, const EventPool& pool, std::uint32_t index);

/// What the driver says about its compiler and its blobs.
struct GraphCapabilities {
  ze_graph_compiler_version_info_t compiler = {};  ///< 0.0: no compiler
  std::uint32_t newest_opset = 0;
  ze_graph_version_info_t elf = {};      ///< 0.0.0 before graph extension 1.6
  ze_graph_version_info_t runtime = {};  ///< 0.0.0 before graph extension 1.6
};
GraphCapabilities graph_capabilities(const DeviceContext& device);

/// DDR that the device can use, in bytes.
std::uint64_t memory_bytes(const DeviceContext& device);

/// The path of the driver's shared object.
std::string driver_library(const DeviceContext& device);

}  // namespace npu::ze
