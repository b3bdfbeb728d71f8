// Counts of the driver's objects that are alive, by kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace softnpu {

enum class Kind {
  kContext,
  kAllocation,
  kQueue,
  kList,
  kFence,
  kEventPool,
  kEvent,
  kGraph,
  kQueryNetwork,
  kBuildLog,
  kProfilingPool,
  kProfilingQuery,
  kCount
};

std::atomic<int64_t>& live_count(Kind kind);

struct LiveObjects {
  uint32_t count;    ///< of all kinds
  std::string text;  ///< "<kind> <count>" for every kind, joined by blanks
};
LiveObjects live_objects();

/// A base class whose instances are counted.
template <Kind kKind>
class Counted {
 public:
  Counted() { live_count(kKind).fetch_add(1, std::memory_order_relaxed); }
  ~Counted() { live_count(kKind).fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace softnpu
