#include "extensions.hpp"

#include <ze_npu/ze_npu.h>

namespace softnpu {

const std::vector<Extension>& advertised_extensions() {
  static const auto* const extensions = new std::vector<Extension>{
      {ZE_COMMAND_QUEUE_NPU_EXT_NAME, ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_1},
      {ZE_CONTEXT_NPU_EXT_NAME, ZE_CONTEXT_NPU_EXT_VERSION_1_0},
  };
  return *extensions;
}

void* extension_table(std::string_view name) {
  if (name == ZE_COMMAND_QUEUE_NPU_EXT_NAME) return queue_table();
  if (name == ZE_CONTEXT_NPU_EXT_NAME) return context_table();
  return nullptr;
}

}  // namespace softnpu
