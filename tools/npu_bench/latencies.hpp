#pragma once

#include <chrono>
#include <vector>

/// Latencies of many inferences, in milliseconds. A percentile is the smallest value that at least
/// that share of them does not exceed (nearest rank).
struct LatencySummary {
  double average = 0, minimum = 0, median = 0, p90 = 0, p99 = 0, maximum = 0;
};

/// All zero if there are no latencies.
LatencySummary summarise(std::vector<std::chrono::nanoseconds> latencies);
