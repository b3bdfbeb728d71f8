#include "live_objects.hpp"

#include <string>

#include "failure.hpp"

namespace softnpu {
namespace {

constexpr size_t kKinds = static_cast<size_t>(Kind::kCount);
constexpr std::array<const char*, kKinds> kNames = {
    "contexts",       "allocations", "queues",          "lists",
    "fences",         "event_pools", "events",          "graphs",
    "query_networks", "build_logs",  "profiling_pools", "profiling_queries"};
std::array<std::atomic<int64_t>, kKinds> counts{};

}  // namespace

ze_result_t get_live_objects(uint32_t* count, const char** text) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  thread_local std::string names;
  names.clear();
  int64_t sum = 0;
  for (size_t i = 0; i < kKinds; ++i) {
    const int64_t alive = counts[i].load(std::memory_order_relaxed);
    names += (i == 0 ? "" : " ") + std::string(kNames[i]) + " " + std::to_string(alive);
    sum += alive;
  }
  *count = static_cast<uint32_t>(sum);
  if (text != nullptr) *text = names.c_str();
  return ZE_RESULT_SUCCESS;
}

std::atomic<int64_t>& live_count(Kind kind) {
  return counts[static_cast<size_t>(kind)];
}

}  // namespace softnpu
