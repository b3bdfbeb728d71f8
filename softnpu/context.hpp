#pragma once

#include <level_zero/ze_api.h>

#include "live_objects.hpp"
#include "memory.hpp"

namespace softnpu {

// Queues, lists and graphs of a context borrow it: the application destroys it last.
class Context : Counted<Kind::kContext> {
 public:
  AllocationTable& allocations() { return allocations_; }

 private:
  AllocationTable allocations_;
};

}  // namespace softnpu
