#pragma once

#include <level_zero/ze_api.h>

#include <atomic>

#include "live_objects.hpp"
#include "memory.hpp"

namespace softnpu {

// Queues, lists and graphs of a context borrow it: the application destroys it last.
class Context : Counted<Kind::kContext> {
 public:
  AllocationTable& allocations() { return allocations_; }
  // A poisoned context executes nothing any more.
  void poison() { poisoned_ = true; }
  bool poisoned() const { return poisoned_; }

 private:
  AllocationTable allocations_;
  std::atomic<bool> poisoned_{false};
};

}  // namespace softnpu
