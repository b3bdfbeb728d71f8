#include "device_queries.hpp"

#include <cstdlib>

#include "base/text.hpp"

namespace npu::ze {

MemoryUse query_memory(const DeviceContext& device) {
  if (!device.graph.has(9)) return {device.npu.properties.maxMemAllocSize, 0};
  ze_graph_memory_query_t query = {};
  device.check(
      device.graph->pfnQueryContextMemory(device.context.get(), ZE_GRAPH_QUERY_MEMORY_DDR, &query),
      "pfnQueryContextMemory");
  return {query.total, query.allocated};
}

std::uint64_t timer_ns(const DeviceContext& device, std::uint64_t ticks) {
  ze_device_properties_t properties = {};
  // With this type the resolution is in ticks a second, else in nanoseconds a tick.
  properties.stype = static_cast<ze_structure_type_t>(kZeNpuCoreStypeDeviceProperties12);
  device.check(device.loader.zeDeviceGetProperties(device.npu.device, &properties),
               "zeDeviceGetProperties");
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::uint64_t hz = properties.timerResolution;
  return hz == 0 ? 0 : ticks / hz * kNsPerSecond + ticks % hz * kNsPerSecond / hz;
}

void set_idle_pruning(const DeviceContext& device, bool on) {
  const auto* table = static_cast<const ze_context_npu_dditable_ext_t*>(
      device.npu.extension_table(ZE_CONTEXT_NPU_EXT_NAME));
  if (!table) {
    throw Error(ErrorCode::kUnsupported,
                base::text("the driver of ", device.npu.name(), " keeps or drops idle memory as ",
                           "it likes (it lacks ", ZE_CONTEXT_NPU_EXT_NAME,
                           "): leave NPU_DISABLE_IDLE_MEMORY_PRUNING alone"));
  }
  ze_context_properties_npu_ext_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_CONTEXT_PROPERTIES_NPU_EXT;
  if (on) {
    properties.options = ZE_NPU_CONTEXT_OPTION_IDLE_OPTIMIZATIONS;
  }
  device.check(table->pfnSetProperties(device.context.get(), &properties), "pfnSetProperties");
}

std::optional<bool> compiler_takes(const DeviceContext& device, const char* option,
                                   const char* value) {
  if (!device.graph.has(11)) return std::nullopt;
  return device.graph->pfnCompilerIsOptionSupported(device.npu.device, ZE_NPU_COMPILER_OPTIONS,
                                                    option, value) == ZE_RESULT_SUCCESS;
}

std::string extra_build_flags() {
  const char* flags = std::getenv("ZE_INTEL_NPU_COMPILER_EXTRA_BUILD_FLAGS");
  return flags ? flags : "";
}

}  // namespace npu::ze
