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
  /// A poisoned context executes nothing more.
  void poison() { *poisoned_ = true; }
  bool poisoned() const { return *poisoned_; }
  /// The poison mark for jobs, which may outlive the context.
  const std::shared_ptr<std::atomic<bool>>& poison_mark() const { return poisoned_; }

 private:
  Seen seen_;
  AllocationTable allocations_;
  std::shared_ptr<std::atomic<bool>> poisoned_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace softnpu
