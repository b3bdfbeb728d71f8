#include "device_context.hpp"

#include <dlfcn.h>

#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"

#include "result.hpp"

namespace npu::ze {
namespace {

Version usable(const ze_graph_compiler_version_info_t& compiler, std::uint32_t formats) {
  // Drivers report 1 (NATIVE) without a compiler, and 2 or 3 with one.
  if (!(formats & ZE_GRAPH_FORMAT_NGRAPH_LITE)) return {};
  return {compiler.major, compiler.minor, 0};
}

Version version_of(const ze_graph_version_info_t& info) {
  return {info.major, info.minor, info.patch};
}

bool has_mutable_lists(const NpuDevice& npu) {
  return npu.has_extension(ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME, 1, 1) &&
         npu.loader->zeCommandListGetNextCommandIdExp &&
         npu.loader->zeCommandListUpdateMutableCommandsExp;
}

}  // namespace

GraphTable graph_table_of(const NpuDevice& npu) {
  const auto* table =
      static_cast<const ze_graph_dditable_ext_t*>(npu.extension_table(ZE_GRAPH_EXT_NAME));
  if (!table) {
    throw Error(
        ErrorCode::kUnsupported,
        base::text("the driver of ", npu.name(),
                   " offers no graphs (zeDriverGetExtensionFunctionAddress gives no table for ",
                   ZE_GRAPH_EXT_NAME, "): reinstall the NPU driver"));
  }
  return {*table, npu.extension_version(ZE_GRAPH_EXT_NAME)};
}

DeviceContext::DeviceContext(NpuDevice device)
    : npu(std::move(device)),
      loader(*npu.loader),
      graph(graph_table_of(npu)),
      profiling(static_cast<const ze_graph_profiling_dditable_ext_t*>(
          npu.extension_table(ZE_PROFILING_DATA_EXT_NAME))),
      queue_ordinal(compute_queue_ordinal(npu)),
      mutable_lists(has_mutable_lists(npu)),
      imports_host_memory(npu.has_extension(ZE_NPU_CORE_EXTERNAL_MEMMAP_SYSMEM_EXT_NAME, 1, 0)) {
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t handle = nullptr;
  check(loader.zeContextCreate(npu.driver, &desc, &handle), "zeContextCreate",
        "the device may have too many users; close other programs that use the NPU");
  context = Context(loader, handle);
}

ErrorCode DeviceContext::judge(ze_result_t result) const {
  const ErrorCode code = error_code(result);
  if (code == ErrorCode::kDeviceLost) {
    lost = true;
  }
  return code;
}

ErrorCode DeviceContext::judge_execution(ze_result_t result) const {
  // Drivers report a context that a memory fault has poisoned as UNKNOWN.
  const bool means_lost =
      result == ZE_RESULT_ERROR_UNKNOWN || result == ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE;
  return judge(means_lost ? ZE_RESULT_ERROR_DEVICE_LOST : result);
}

bool DeviceContext::tells_its_loss() const {
  const ze_result_t status = loader.zeDeviceGetStatus(npu.device);
  return status == ZE_RESULT_ERROR_DEVICE_LOST || status == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

void DeviceContext::fail(ze_result_t result, const char* call, const char* advice) const {
  throw make_error(judge(result), result, call, advice);
}

CommandList make_command_list(const DeviceContext& device) {
  ze_npu_core_mutable_command_list_exp_desc_t changeable = {};
  changeable.stype = kZeNpuCoreStypeMutableCommandListExpDesc;
  ze_command_list_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  desc.pNext = device.mutable_lists ? &changeable : nullptr;
  desc.commandQueueGroupOrdinal = device.queue_ordinal;
  ze_command_list_handle_t handle = nullptr;
  device.check(
      device.loader.zeCommandListCreate(device.context.get(), device.npu.device, &desc, &handle),
      "zeCommandListCreate");
  return {device.loader, handle};
}

Fence make_fence(const DeviceContext& device, const CommandQueue& queue) {
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t handle = nullptr;
  device.check(device.loader.zeFenceCreate(queue.get(), &desc, &handle), "zeFenceCreate");
  return {device.loader, handle};
}

GraphCapabilities graph_capabilities(const NpuDevice& npu, const GraphTable& graph) {
  if (graph.has(6)) {
    ze_device_graph_properties_2_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES_2;
    check(graph->pfnDeviceGetGraphProperties2(npu.device, &properties),
          "pfnDeviceGetGraphProperties2");
    return {usable(properties.compilerVersion, properties.graphFormatsSupported),
            properties.maxOVOpsetVersionSupported, version_of(properties.elfVersion),
            version_of(properties.runtimeVersion)};
  }
  ze_device_graph_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES;
  check(graph->pfnDeviceGetGraphProperties(npu.device, &properties), "pfnDeviceGetGraphProperties");
  return {usable(properties.compilerVersion, properties.graphFormatsSupported),
          properties.maxOVOpsetVersionSupported,
          {},
          {}};
}

std::uint64_t memory_bytes(const DeviceContext& device) {
  ze_graph_memory_query_t query = {};
  // Before 1.9 the unit of the answer was not bytes on every driver.
  if (device.graph.has(9) &&
      device.graph->pfnQueryContextMemory(device.context.get(), ZE_GRAPH_QUERY_MEMORY_DDR,
                                          &query) == ZE_RESULT_SUCCESS) {
    return query.total;
  }
  return device.npu.properties.maxMemAllocSize;
}

std::string driver_library(const GraphTable& graph) {
  Dl_info info = {};
  const auto* inside = reinterpret_cast<const void*>(graph->pfnCreate);
  return ::dladdr(inside, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

}  // namespace npu::ze
