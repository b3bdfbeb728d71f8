// ZE_extension_context_npu. The device keeps nothing that an idle context could give back, so both
// functions only check their arguments.
#include <ze_npu/ze_npu.h>

#include "abi/entry.hpp"
#include "base/trace.hpp"
#include "machine/context.hpp"

#include "extensions.hpp"

namespace softnpu {
namespace {

ze_result_t set_properties(ze_context_handle_t context,
                           ze_context_properties_npu_ext_t* properties) {
  object_of<Context>(context);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  trace::note("options", properties->options);
  return ZE_RESULT_SUCCESS;
}

ze_result_t release_memory(ze_context_handle_t context) {
  object_of<Context>(context);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void* context_table() {
  static ze_context_npu_dditable_ext_t table = {
      &ExtensionEntry<"pfnSetProperties", &set_properties>::call,
      &ExtensionEntry<"pfnReleaseMemory", &release_memory>::call,
  };
  return &table;
}

}  // namespace softnpu
