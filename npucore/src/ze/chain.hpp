#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "device_context.hpp"

namespace npu::ze {

/// Runs a queue's submissions one after the other if the device does not do it: each waits for the
/// event of the one before.
class Chain {
 public:
  /// The events that order one list; both stay the chain's.
  struct Link {
    ze_event_handle_t wait_for = nullptr;  ///< null for the first
    ze_event_handle_t signal = nullptr;
  };

  /// `places`: lists in flight at once.
  Chain(const DeviceContext& device, std::uint32_t places);
  /// Held from link() to advance(), so that lists are submitted in the order of their links.
  std::mutex& mutex() { return mutex_; }
  /// The link of the list that is `ahead` lists after the next one.
  Link link(std::uint32_t ahead);
  /// Call it after the submission of so many lists.
  void advance(std::uint32_t lists) { submitted_ += lists; }

 private:
  const DeviceContext& device_;
  std::mutex mutex_;  // guards submitted_ and the events
  EventPool pool_;
  std::vector<Event> events_;
  std::uint64_t submitted_ = 0;
};

}  // namespace npu::ze
