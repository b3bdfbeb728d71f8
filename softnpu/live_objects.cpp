#include "live_objects.hpp"

#include <cstring>

namespace softnpu {
namespace {

constexpr size_t kKinds = static_cast<size_t>(Kind::kCount);
constexpr std::array<const char*, kKinds> kNames = {
    "context", "allocation", "queue",         "list",      "fence",          "event_pool",
    "event",   "graph",      "query_network", "build_log", "profiling_pool", "profiling_query"};
std::array<std::atomic<int64_t>, kKinds> counts{};

}  // namespace

std::atomic<int64_t>& live_count(Kind kind) {
  return counts[static_cast<size_t>(kind)];
}

}  // namespace softnpu

// How many objects of `kind` are alive; of all kinds for a null `kind`; -1 for an unknown one.
extern "C" __attribute__((visibility("default"))) int64_t softnpuLiveObjects(const char* kind) {
  int64_t sum = 0;
  for (size_t i = 0; i < softnpu::kKinds; ++i) {
    const int64_t count = softnpu::counts[i].load(std::memory_order_relaxed);
    if (kind != nullptr && std::strcmp(kind, softnpu::kNames[i]) == 0) return count;
    sum += count;
  }
  return kind == nullptr ? sum : -1;
}
