// zeEventPool* and zeEvent*.
#include "event_api.hpp"

#include "machine/context.hpp"
#include "machine/engine.hpp"
#include "machine/event.hpp"
#include "machine/job.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {

std::shared_ptr<EventState> event_state(ze_event_handle_t event) {
  return object_of<Event>(event).state;
}

void set_events(Command& command, ze_event_handle_t signal, uint32_t wait_count,
                ze_event_handle_t* waits) {
  require(wait_count == 0 || waits != nullptr, ZE_RESULT_ERROR_INVALID_SIZE);
  for (uint32_t i = 0; i < wait_count; ++i) command.waits.push_back(event_state(waits[i]));
  if (signal != nullptr) {
    command.signals = event_state(signal);
  }
}

ze_result_t event_pool_create(ze_context_handle_t context, const ze_event_pool_desc_t* desc,
                              uint32_t device_count, ze_device_handle_t* devices,
                              ze_event_pool_handle_t* pool) {
  // Intel's driver gives this result for a null context here.
  auto& owner = object_of<Context>(context, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc != nullptr && pool != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->count != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  require(device_count == 0 || devices != nullptr, ZE_RESULT_ERROR_INVALID_SIZE);
  for (uint32_t i = 0; i < device_count; ++i) check_device(devices[i]);
  hand_out(std::make_unique<EventPool>(owner, *desc), pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_destroy(ze_event_pool_handle_t pool) {
  take_back<EventPool>(pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_get_context_handle(ze_event_pool_handle_t pool,
                                          ze_context_handle_t* context) {
  auto& owner = object_of<EventPool>(pool);
  require(context != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *context = reinterpret_cast<ze_context_handle_t>(&owner.context());
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_get_flags(ze_event_pool_handle_t pool, ze_event_pool_flags_t* flags) {
  auto& owner = object_of<EventPool>(pool);
  require(flags != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *flags = owner.flags();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_create(ze_event_pool_handle_t pool, const ze_event_desc_t* desc,
                         ze_event_handle_t* event) {
  auto& owner = object_of<EventPool>(pool);
  require(desc != nullptr && event != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(owner.take(desc->index), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  hand_out(std::make_unique<Event>(owner, desc->index), event);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_destroy(ze_event_handle_t event) {
  take_back<Event>(event);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_host_signal(ze_event_handle_t event) {
  event_state(event)->signal();
  Engine::instance().wake();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_host_synchronize(ze_event_handle_t event, uint64_t timeout_ns) {
  return event_state(event)->wait(Deadline::after(timeout_ns));
}

ze_result_t event_query_status(ze_event_handle_t event) {
  return event_state(event)->signalled() ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t event_host_reset(ze_event_handle_t event) {
  event_state(event)->reset();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_get_event_pool(ze_event_handle_t event, ze_event_pool_handle_t* pool) {
  auto& own = object_of<Event>(event);
  require(pool != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *pool = reinterpret_cast<ze_event_pool_handle_t>(&own.pool);
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
