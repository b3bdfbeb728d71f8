#include "core/in_flight.hpp"

#include "npucore/error.hpp"
#include "ze/result.hpp"

namespace npu::internal {
namespace {

bool is_lost(const ze::DeviceContext& device) {
  const ze_result_t status = device.loader.zeDeviceGetStatus(device.npu.device);
  return status == ZE_RESULT_ERROR_DEVICE_LOST || status == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

}  // namespace

ze_result_t wait_for_fence(const ze::DeviceContext& device, ze_fence_handle_t fence,
                           std::uint64_t timeout_ns) {
  const ze_result_t result = device.loader.zeFenceHostSynchronize(fence, timeout_ns);
  if (result == ZE_RESULT_NOT_READY && timeout_ns >= kLookNs && is_lost(device))
    return ZE_RESULT_ERROR_DEVICE_LOST;
  return result;
}

void InFlight::enter(Flight& flight) {
  std::unique_lock lock(mutex_);
  while (oldest_ && lists_ + flight.lists > kPlaces) wait_for_oldest(lock);
  flight.older = newest_;
  flight.newer = nullptr;
  flight.counted = true;
  (newest_ ? newest_->newer : oldest_) = &flight;
  newest_ = &flight;
  lists_ += flight.lists;
}

void InFlight::leave(Flight& flight) {
  std::unique_lock lock(mutex_);
  if (flight.counted) give_back(flight);
  unwatched_.wait(lock, [&] { return flight.watchers == 0; });
}

/// Its owner may be the calling thread, later; so nobody else may be left to wait for it.
void InFlight::wait_for_oldest(std::unique_lock<std::mutex>& lock) {
  Flight& oldest = *oldest_;
  ++oldest.watchers;
  lock.unlock();
  const ze_result_t result = wait_for_fence(device_, oldest.fence, kLookNs);
  lock.lock();
  if (--oldest.watchers == 0) unwatched_.notify_all();
  // Whatever it ended with is told to its owner.
  if (result != ZE_RESULT_NOT_READY && oldest.counted) give_back(oldest);
}

void InFlight::give_back(Flight& flight) {
  (flight.older ? flight.older->newer : oldest_) = flight.newer;
  (flight.newer ? flight.newer->older : newest_) = flight.older;
  flight.counted = false;
  lists_ -= flight.lists;
}

}  // namespace npu::internal
