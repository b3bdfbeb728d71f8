#include "fence.hpp"

namespace softnpu {

void Fence::track(Jobs jobs) {
  const std::scoped_lock lock(mutex_);
  jobs_ = std::move(jobs);
  submitted_ = true;
}

ze_result_t Fence::wait(Deadline deadline) {
  Jobs jobs;
  {
    const std::scoped_lock lock(mutex_);
    if (signalled_) return result_;
    if (!submitted_) return ZE_RESULT_NOT_READY;
    jobs = jobs_;
  }
  const ze_result_t result = wait_for(jobs, deadline);
  if (result == ZE_RESULT_NOT_READY) return result;
  const std::scoped_lock lock(mutex_);
  signalled_ = true;
  result_ = result;
  return result;
}

std::shared_ptr<Job> Fence::user() {
  const std::scoped_lock lock(mutex_);
  return first_in_flight(jobs_);
}

void Fence::reset() {
  const std::scoped_lock lock(mutex_);
  jobs_.clear();
  submitted_ = false;
  signalled_ = false;
  result_ = ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
