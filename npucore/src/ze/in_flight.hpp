#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "device_context.hpp"

namespace npu::ze {

/// How long one look at a fence lasts: a driver reports a hung device as "not ready" forever.
inline constexpr std::uint64_t kLookNs = 1'000'000'000;

/// Waits for one fence, and asks the device whether it is lost once the waits have found nothing
/// for kLookNs, however short each was.
class Lookout {
 public:
  /// Waits at most `timeout_ns`. Reports a lost device as lost, not as "not ready".
  ze_result_t wait(const DeviceContext& device, ze_fence_handle_t fence, std::uint64_t timeout_ns);
  /// Starts anew for another execution.
  void reset() { since_ = {}; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_;  ///< since then nothing was found; the epoch: no wait was in vain yet
};

/// One execution that the device may be working on: its fence, and its places in the queue. It is
/// made once and submitted again and again, and must not be destroyed in flight.
class Submission {
 public:
  /// `what` is for messages: "running 'x'".
  Submission(const DeviceContext& device, const CommandQueue& queue, std::uint32_t lists,
             std::string what);

  ze_fence_handle_t fence() const { return fence_.get(); }
  std::uint32_t lists() const { return lists_; }
  const std::string& what() const { return what_; }
  Lookout& lookout() { return lookout_; }
  /// Before it is submitted: a fence that could not be reset would signal at once.
  void renew_fence(const DeviceContext& device, const CommandQueue& queue);
  /// After the execution. What was not reset is renewed before the next one.
  ze_result_t reset_fence(const DeviceContext& device);

 private:
  friend class InFlight;
  Fence fence_;
  bool fence_is_spent_ = false;
  const std::uint32_t lists_;
  const std::string what_;
  Lookout lookout_;  // the owner's
  // Guarded by the mutex of InFlight.
  Submission* older_ = nullptr;
  Submission* newer_ = nullptr;
  int watchers_ = 0;      // threads that wait for the fence besides the owner
  bool counted_ = false;  // it occupies places
};

/// The submissions of one queue, oldest first. A driver's queue has few places (62): past them the
/// driver itself blocks for 2 s and then fails.
class InFlight {
 public:
  static constexpr std::uint32_t kPlaces = 60;

  explicit InFlight(const DeviceContext& device) : device_(device) {}

  /// Takes places; waits until the oldest submissions have ended if none are free.
  void enter(Submission& submission);
  /// Gives the places back. Call it after the fence has signalled, before it is reset or destroyed.
  void leave(Submission& submission);

 private:
  void wait_for_oldest(std::unique_lock<std::mutex>& lock);
  void give_back(Submission& submission);

  const DeviceContext& device_;
  std::mutex mutex_;  // guards everything below and the links of all submissions
  std::condition_variable unwatched_;
  Submission* oldest_ = nullptr;
  Submission* newest_ = nullptr;
  std::uint32_t lists_ = 0;
};

}  // namespace npu::ze
