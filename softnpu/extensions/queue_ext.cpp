// ZE_extension_command_queue_npu.
#include <ze_npu/ze_npu.h>

#include "abi/entry.hpp"
#include "base/trace.hpp"
#include "machine/queue.hpp"

#include "extensions.hpp"

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

void* queue_table() {
  static ze_command_queue_npu_dditable_ext_t table = {
      &ExtensionEntry<"pfnSetWorkloadType", &set_workload_type>::call,
  };
  return &table;
}

}  // namespace softnpu
