// zeCommandList*, without the appends.
#include <ze_npu/ze_npu.h>

#include "base/trace.hpp"
#include "machine/context.hpp"
#include "machine/in_use.hpp"
#include "machine/list.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

bool asks_for_changes(const ze_command_list_desc_t& desc) {
  const auto* const first =
      static_cast<const ze_npu_core_mutable_command_list_exp_desc_t*>(desc.pNext);
  return first != nullptr && first->stype == kZeNpuCoreStypeMutableCommandListExpDesc;
}

}  // namespace

ze_result_t command_list_create(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t* desc,
                                ze_command_list_handle_t* list) {
  auto& owner = object_of<Context>(context);
  check_device(device);
  require(desc != nullptr && list != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->commandQueueGroupOrdinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  hand_out(std::make_unique<CommandList>(owner, asks_for_changes(*desc)), list);
  trace::note_pointer("created", *list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t* desc,
                                          ze_command_list_handle_t* list) {
  auto& owner = object_of<Context>(context);
  check_device(device);
  require(desc != nullptr && list != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->ordinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  hand_out(std::make_unique<CommandList>(owner, *desc), list);
  trace::note_pointer("created", *list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_destroy(ze_command_list_handle_t list) {
  check_not_in_use("list", list, object_of<CommandList>(list).user());
  take_back<CommandList>(list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_close(ze_command_list_handle_t list) {
  object_of<CommandList>(list).close();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_reset(ze_command_list_handle_t list) {
  auto& own = object_of<CommandList>(list);
  if (!own.immediate()) {
    check_not_in_use("list", list, own.user(), "reset");
  }
  own.reset();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_host_synchronize(ze_command_list_handle_t list, uint64_t timeout_ns) {
  return object_of<CommandList>(list).synchronize(Deadline::after(timeout_ns));
}

ze_result_t command_list_get_device_handle(ze_command_list_handle_t list,
                                           ze_device_handle_t* device) {
  object_of<CommandList>(list);
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *device = the_device();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_context_handle(ze_command_list_handle_t list,
                                            ze_context_handle_t* context) {
  auto& own = object_of<CommandList>(list);
  require(context != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *context = reinterpret_cast<ze_context_handle_t>(&own.context());
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_ordinal(ze_command_list_handle_t list, uint32_t* ordinal) {
  object_of<CommandList>(list);
  require(ordinal != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *ordinal = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_is_immediate(ze_command_list_handle_t list, ze_bool_t* immediate) {
  auto& own = object_of<CommandList>(list);
  require(immediate != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *immediate = own.immediate() ? 1 : 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
