#include "event.hpp"

#include <algorithm>

namespace softnpu {

void EventState::add_signaller(const std::shared_ptr<const Completion>& done) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(signallers_, [](const auto& known) {
    const auto alive = known.lock();
    return !alive || alive->is_set();
  });
  signallers_.push_back(done);
}

bool EventState::has_pending_signaller() {
  const std::scoped_lock lock(mutex_);
  return std::any_of(signallers_.begin(), signallers_.end(), [](const auto& known) {
    const auto alive = known.lock();
    return alive && !alive->is_set();
  });
}

ze_result_t EventState::wait(Deadline deadline) {
  if (signalled()) return ZE_RESULT_SUCCESS;
  if (!has_pending_signaller()) return signalled() ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
  return signal_.wait(deadline) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

bool EventPool::take(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (index >= used_.size() || used_[index]) return false;
  return used_[index] = true;
}

void EventPool::give_back(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  used_[index] = false;
}

}  // namespace softnpu
