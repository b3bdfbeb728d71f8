#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "ze/device_context.hpp"

namespace npu::internal {

/// One submission that the driver has. Its owner has entered it and leaves once its fence is
/// signalled, before the fence is reset or destroyed.
struct Flight {
  ze_fence_handle_t fence = nullptr;
  std::uint32_t lists = 1;

 private:
  friend class InFlight;
  Flight* older = nullptr;
  Flight* newer = nullptr;
  int watchers = 0;      // threads that wait for the fence in the owner's place
  bool counted = false;  // it takes places
};

/// The submissions of one queue, oldest first. A driver's queue has few places (62): past them the
/// driver itself blocks for 2 s and then fails.
class InFlight {
 public:
  static constexpr std::uint32_t kPlaces = 60;

  explicit InFlight(const ze::DeviceContext& device) : device_(device) {}

  /// Takes places, when there are none once the oldest submissions have ended. Throws
  /// Error(kDeviceLost).
  void enter(Flight& flight);
  /// Gives them back.
  void leave(Flight& flight);

 private:
  void wait_for_oldest(std::unique_lock<std::mutex>& lock);
  void give_back(Flight& flight);

  const ze::DeviceContext& device_;
  std::mutex mutex_;  // guards everything below and the links of all flights
  std::condition_variable unwatched_;
  Flight* oldest_ = nullptr;
  Flight* newest_ = nullptr;
  std::uint32_t lists_ = 0;
};

/// How long one look at a fence lasts: a driver reports a hung device as "not ready" for ever.
inline constexpr std::uint64_t kLookNs = 1'000'000'000;

/// Waits at most `timeout_ns`. A device that is lost is told as such, not as "not ready".
ze_result_t wait_for_fence(const ze::DeviceContext& device, ze_fence_handle_t fence,
                           std::uint64_t timeout_ns);

}  // namespace npu::internal
