// ZE_extension_command_queue_npu.
#include <ze_npu/ze_npu.h>

#include "entry.hpp"
#include "extensions.hpp"
#include "queue.hpp"
#include "trace.hpp"

namespace softnpu {
namespace {

ze_result_t set_workload_type(ze_command_queue_handle_t queue,
                              ze_command_queue_workload_type_t type) {
  auto& target = object_of<CommandQueue>(queue);
  require(type == ZE_WORKLOAD_TYPE_DEFAULT || type == ZE_WORKLOAD_TYPE_BACKGROUND,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
  target.set_background(type == ZE_WORKLOAD_TYPE_BACKGROUND);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void check_queue_options(const ze_command_queue_desc_t& desc) {
  const auto* const first = static_cast<const ze_command_queue_desc_npu_ext_t*>(desc.pNext);
  if (first != nullptr && first->stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT)
    trace::note("turbo", first->turbo ? 1 : 0);
  if (first == nullptr || first->stype != ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2) return;
  const auto* const options = static_cast<const ze_command_queue_desc_npu_ext_2_t*>(desc.pNext);
  // Every queue of this device runs its lists in order, so that DEVICE_SYNC asks for nothing more.
  const bool device_sync = (options->options & ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC) != 0;
  require(!device_sync || desc.mode != ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
  // Turbo is a matter of clocks, which this device does not have; as in Intel's driver it gives way
  // to DEVICE_SYNC.
  const bool turbo = !device_sync && (options->options & ZE_NPU_COMMAND_QUEUE_OPTION_TURBO) != 0;
  trace::note("turbo", turbo ? 1 : 0);
  trace::note("device_sync", device_sync ? 1 : 0);
}

void* queue_table() {
  static ze_command_queue_npu_dditable_ext_t table = {
      &ExtensionEntry<"pfnSetWorkloadType", &set_workload_type>::call,
  };
  return &table;
}

}  // namespace softnpu
