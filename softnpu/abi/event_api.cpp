// zeEventPool* and zeEvent*.
#include "event.hpp"

#include <algorithm>

#include "api.hpp"
#include "context.hpp"
#include "device.hpp"
#include "engine.hpp"
#include "handles.hpp"
#include "job.hpp"

namespace softnpu {

class EventPool : Counted<Kind::kEventPool> {
 public:
  EventPool(Context& context, const ze_event_pool_desc_t& desc)
      : context_(context), flags_(desc.flags), used_(desc.count, false) {}

  // False when the index is out of range or taken.
  bool take(uint32_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= used_.size() || used_[index]) return false;
    return used_[index] = true;
  }
  void give_back(uint32_t index) {
    const std::lock_guard lock(mutex_);
    used_[index] = false;
  }
  Context& context() const { return context_; }
  ze_event_pool_flags_t flags() const { return flags_; }

 private:
  Context& context_;
  ze_event_pool_flags_t flags_;
  std::mutex mutex_;  // guards used_
  std::vector<bool> used_;
};

void EventState::add_signaller(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  std::erase_if(signallers_, [](const auto& known) {
    const auto alive = known.lock();
    return !alive || alive->done();
  });
  signallers_.push_back(job);
}

bool EventState::has_pending_signaller() {
  const std::lock_guard lock(mutex_);
  return std::any_of(signallers_.begin(), signallers_.end(), [](const auto& known) {
    const auto alive = known.lock();
    return alive && !alive->done();
  });
}

ze_result_t EventState::wait(Deadline deadline) {
  if (signalled()) return ZE_RESULT_SUCCESS;
  if (!has_pending_signaller()) return signalled() ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
  return signal_.wait(deadline) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

std::shared_ptr<EventState> event_state(ze_event_handle_t event) {
  return object_of<Event>(event).state;
}

ze_result_t event_pool_create(ze_context_handle_t context, const ze_event_pool_desc_t* desc,
                              uint32_t device_count, ze_device_handle_t* devices,
                              ze_event_pool_handle_t* pool) {
  // Intel's driver has this code for a null context here.
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
  const auto own = take_back<Event>(event);
  own->pool.give_back(own->index);
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
