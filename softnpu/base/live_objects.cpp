#include "live_objects.hpp"

namespace softnpu {
namespace {

constexpr size_t kKinds = static_cast<size_t>(Kind::kCount);
constexpr std::array<const char*, kKinds> kKindNames = {
    "contexts",       "allocations", "queues",          "lists",
    "fences",         "event_pools", "events",          "graphs",
    "query_networks", "build_logs",  "profiling_pools", "profiling_queries"};
std::array<std::atomic<int64_t>, kKinds> alive_counts{};

}  // namespace

LiveObjects live_objects() {
  LiveObjects all{};
  for (size_t i = 0; i < kKinds; ++i) {
    const int64_t alive = alive_counts[i].load(std::memory_order_relaxed);
    all.text += (i == 0 ? "" : " ") + std::string(kKindNames[i]) + " " + std::to_string(alive);
    all.count += static_cast<uint32_t>(alive);
  }
  return all;
}

std::atomic<int64_t>& live_count(Kind kind) {
  return alive_counts[static_cast<size_t>(kind)];
}

}  // namespace softnpu
