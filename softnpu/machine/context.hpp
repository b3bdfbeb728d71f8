#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <memory>

#include "base/live_objects.hpp"
#include "base/status.hpp"

#include "memory.hpp"

namespace softnpu {

/// A context. Queues, lists and graphs borrow it: the application destroys it last.
class Context : Counted<Kind::kContext> {
 public:
  AllocationTable& allocations() { return allocations_; }
  /// Whether there is room for one more queue; each takes a place until it is destroyed.
  bool take_queue_place() {
    if (queues_.fetch_add(1) < kMostQueues) return true;
    give_queue_place();
    return false;
  }
  void give_queue_place() { queues_.fetch_sub(1); }
  /// A poisoned context executes nothing more.
  void poison() { *poisoned_ = true; }
  bool poisoned() const { return *poisoned_; }
  /// The poison mark for jobs, which may outlive the context.
  const std::shared_ptr<std::atomic<bool>>& poison_mark() const { return poisoned_; }

 private:
  static constexpr int kMostQueues = 255;

  Seen seen_;
  std::atomic<int> queues_ = 0;
  AllocationTable allocations_;
  std::shared_ptr<std::atomic<bool>> poisoned_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace softnpu
