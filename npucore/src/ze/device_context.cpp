#include "ze/device_context.hpp"

#include <dlfcn.h>

#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "ze/result.hpp"

namespace npu::ze {
namespace {

GraphTable graph_table_of(const NpuDevice& npu) {
  const auto* table =
      static_cast<const ze_graph_dditable_ext_t*>(npu.extension_table(ZE_GRAPH_EXT_NAME));
  if (!table)
    throw Error(
        ErrorCode::kUnsupported,
        base::text("the driver of ", npu.name(),
                   " offers no graphs (zeDriverGetExtensionFunctionAddress gives no table for ",
                   ZE_GRAPH_EXT_NAME, "): reinstall the NPU driver"));
  return {*table, npu.extension_version(ZE_GRAPH_EXT_NAME)};
}

ze_graph_compiler_version_info_t usable(const ze_graph_compiler_version_info_t& compiler,
                                        std::uint32_t formats) {
  // Drivers report 1 (NATIVE) without a compiler, and 2 or 3 with one.
  return formats & ZE_GRAPH_FORMAT_NGRAPH_LITE ? compiler : ze_graph_compiler_version_info_t{};
}

bool has_mutable_lists(const NpuDevice& npu) {
  return npu.has_extension(ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME, 1, 1) &&
         npu.loader->zeCommandListGetNextCommandIdExp &&
         npu.loader->zeCommandListUpdateMutableCommandsExp;
}

}  // namespace

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

bool has_device_sync(const DeviceContext& device) {
  return device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 1);
}

CommandQueue make_queue(const DeviceContext& device, const QueueOptions& options) {
  ze_command_queue_desc_npu_ext_t options_1_0 = {};
  options_1_0.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT;
  options_1_0.turbo = true;
  ze_command_queue_desc_npu_ext_2_t options_1_1 = {};
  options_1_1.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2;
  options_1_1.options = options.device_sync ? ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC
                                            : ZE_NPU_COMMAND_QUEUE_OPTION_TURBO;

  ze_command_queue_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.ordinal = device.queue_ordinal;
  desc.mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  desc.priority = options.priority;
  if (options.turbo || options.device_sync) {
    if (device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 1))
      desc.pNext = &options_1_1;
    else if (device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 0))
      desc.pNext = &options_1_0;
    else
      base::log(LogLevel::kWarning, "turbo is ignored: this driver has no turbo queues");
  }
  if (options.turbo && options.device_sync)
    base::log(LogLevel::kWarning,
              "turbo is ignored: a queue that runs inferences one after the other has none");
  ze_command_queue_handle_t handle = nullptr;
  check(device.loader.zeCommandQueueCreate(device.context.get(), device.npu.device, &desc, &handle),
        "zeCommandQueueCreate");
  return {device.loader, handle};
}

CommandList make_command_list(const DeviceContext& device) {
  ze_npu_core_mutable_command_list_exp_desc_t changeable = {};
  changeable.stype = kZeNpuCoreStypeMutableCommandListExpDesc;
  ze_command_list_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  desc.pNext = device.mutable_lists ? &changeable : nullptr;
  desc.commandQueueGroupOrdinal = device.queue_ordinal;
  ze_command_list_handle_t handle = nullptr;
  check(device.loader.zeCommandListCreate(device.context.get(), device.npu.device, &desc, &handle),
        "zeCommandListCreate");
  return {device.loader, handle};
}

EventPool make_event_pool(const DeviceContext& device, std::uint32_t count) {
  ze_event_pool_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  desc.count = count;
  ze_device_handle_t npu = device.npu.device;
  ze_event_pool_handle_t handle = nullptr;
  check(device.loader.zeEventPoolCreate(device.context.get(), &desc, 1, &npu, &handle),
        "zeEventPoolCreate");
  return {device.loader, handle};
}

Event make_event(const DeviceContext& device, const EventPool& pool, std::uint32_t index) {
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = index;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t handle = nullptr;
  check(device.loader.zeEventCreate(pool.get(), &desc, &handle), "zeEventCreate");
  return {device.loader, handle};
}

Fence make_fence(const DeviceContext& device, const CommandQueue& queue) {
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t handle = nullptr;
  check(device.loader.zeFenceCreate(queue.get(), &desc, &handle), "zeFenceCreate");
  return {device.loader, handle};
}

GraphCapabilities graph_capabilities(const DeviceContext& device) {
  if (device.graph.has(6)) {
    ze_device_graph_properties_2_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES_2;
    check(device.graph->pfnDeviceGetGraphProperties2(device.npu.device, &properties),
          "pfnDeviceGetGraphProperties2");
    return {usable(properties.compilerVersion, properties.graphFormatsSupported),
            properties.maxOVOpsetVersionSupported, properties.elfVersion,
            properties.runtimeVersion};
  }
  ze_device_graph_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES;
  check(device.graph->pfnDeviceGetGraphProperties(device.npu.device, &properties),
        "pfnDeviceGetGraphProperties");
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
                                          &query) == ZE_RESULT_SUCCESS)
    return query.total;
  return device.npu.properties.maxMemAllocSize;
}

std::string driver_library(const DeviceContext& device) {
  Dl_info info = {};
  const auto* inside = reinterpret_cast<const void*>(device.graph->pfnCreate);
  return ::dladdr(inside, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

}  // namespace npu::ze
