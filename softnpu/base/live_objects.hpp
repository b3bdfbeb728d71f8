// Counts of the driver's objects that are alive, by kind.
#pragma once

#include <level_zero/ze_api.h>

#include <array>
#include <atomic>
#include <cstdint>

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

// For leak tests, "softnpuGetLiveObjects": how many objects the application still has, and a text
// that names their kinds, which is valid until this thread's next call. `text` may be null.
ze_result_t get_live_objects(uint32_t* count, const char** text);

// A base class whose instances are counted.
template <Kind kKind>
class Counted {
 public:
  Counted() { live_count(kKind).fetch_add(1, std::memory_order_relaxed); }
  ~Counted() { live_count(kKind).fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace softnpu
