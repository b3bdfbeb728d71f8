// zeContext*.
#include "base/trace.hpp"
#include "machine/context.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {

ze_result_t context_create(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                           ze_context_handle_t* context) {
  check_driver(driver);
  require(desc != nullptr && context != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  hand_out(std::make_unique<Context>(), context);
  trace::note_pointer("created", *context);
  return ZE_RESULT_SUCCESS;
}

ze_result_t context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                              uint32_t device_count, ze_device_handle_t* devices,
                              ze_context_handle_t* context) {
  require(device_count == 0 || devices != nullptr, ZE_RESULT_ERROR_INVALID_SIZE);
  for (uint32_t i = 0; i < device_count; ++i) check_device(devices[i]);
  return context_create(driver, desc, context);
}

ze_result_t context_destroy(ze_context_handle_t context) {
  take_back<Context>(context);
  return ZE_RESULT_SUCCESS;
}

ze_result_t context_get_status(ze_context_handle_t context) {
  object_of<Context>(context);
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
