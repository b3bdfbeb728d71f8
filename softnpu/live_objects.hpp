// Counts of the driver's objects that are alive, by kind; exported as softnpuLiveObjects for leak
// tests.
#pragma once

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

// ze_result_t (*)(uint32_t* count, const char** text): what zeDriverGetExtensionFunctionAddress
// finds under the name "softnpuGetLiveObjects".
void* live_objects_function();

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
