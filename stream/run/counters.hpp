// The counters of npuinfer and npuimport.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <map>
#include <string>

#include "snapshot.hpp"

namespace npustream {

/// npuinfer's counters since the stream was added.
struct StreamCounters {
  std::uint64_t frames = 0, inferred = 0, missed = 0, skipped = 0, lost = 0;
  double latency_p50_ms = 0, latency_p95_ms = 0;
  std::uint64_t busy_ns = 0;  // of the device's time, for all models
  std::uint64_t queue = 0;
  TimeCounts latency, queueing;
  std::uint64_t compile_ns = 0;             // of the first model
  std::map<std::string, CopyCount> copies;  // by reason
};

/// 0 where there is no such field.
std::uint64_t number_of(const GstStructure* stats, const char* field);
/// Adds the property "stats" of npuinfer, or npuimport.
void add_stats(const GstStructure* stats, StreamCounters* counters);

}  // namespace npustream
