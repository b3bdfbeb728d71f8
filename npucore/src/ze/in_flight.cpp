#include "in_flight.hpp"

#include <algorithm>
#include <utility>

namespace npu::ze {

Submission::Submission(const DeviceContext& device, const CommandQueue& queue, std::uint32_t lists,
                       std::string what)
    : fence_(make_fence(device, queue)), lists_(lists), what_(std::move(what)) {}

void Submission::renew_fence(const DeviceContext& device, const CommandQueue& queue) {
  if (!fence_is_spent_) return;
  fence_ = make_fence(device, queue);
  fence_is_spent_ = false;
}

ze_result_t Submission::reset_fence(const DeviceContext& device) {
  const ze_result_t result = device.loader.zeFenceReset(fence());
  fence_is_spent_ = result != ZE_RESULT_SUCCESS;
  return result;
}

ze_result_t Lookout::wait(const DeviceContext& device, ze_fence_handle_t fence,
                          std::uint64_t timeout_ns) {
  const ze_result_t result = device.loader.zeFenceHostSynchronize(fence, timeout_ns);
  if (result != ZE_RESULT_NOT_READY) return result;
  const std::chrono::nanoseconds look(kLookNs);
  const auto now = Clock::now();
  if (since_ == Clock::time_point()) {
    since_ = now - std::min(std::chrono::nanoseconds(timeout_ns), look);
  }
  if (now - since_ < look) return result;
  since_ = now;
  return device.tells_its_loss() ? ZE_RESULT_ERROR_DEVICE_LOST : result;
}

void InFlight::enter(Submission& submission) {
  std::unique_lock lock(mutex_);
  while (oldest_ && lists_ + submission.lists_ > kPlaces) wait_for_oldest(lock);
  submission.older_ = newest_;
  submission.newer_ = nullptr;
  submission.counted_ = true;
  (newest_ ? newest_->newer_ : oldest_) = &submission;
  newest_ = &submission;
  lists_ += submission.lists_;
}

void InFlight::leave(Submission& submission) {
  std::unique_lock lock(mutex_);
  if (submission.counted_) {
    give_back(submission);
  }
  unwatched_.wait(lock, [&] { return submission.watchers_ == 0; });
}

/// Waits for the fence and not for the owner, which may be the calling thread itself.
void InFlight::wait_for_oldest(std::unique_lock<std::mutex>& lock) {
  Submission& oldest = *oldest_;
  ++oldest.watchers_;
  lock.unlock();
  const ze_result_t result = Lookout().wait(device_, oldest.fence(), kLookNs);
  lock.lock();
  if (--oldest.watchers_ == 0) {
    unwatched_.notify_all();
  }
  // The owner learns the result itself.
  if (result != ZE_RESULT_NOT_READY && oldest.counted_) {
    give_back(oldest);
  }
}

void InFlight::give_back(Submission& submission) {
  (submission.older_ ? submission.older_->newer_ : oldest_) = submission.newer_;
  (submission.newer_ ? submission.newer_->older_ : newest_) = submission.older_;
  submission.counted_ = false;
  lists_ -= submission.lists_;
}

}  // namespace npu::ze
