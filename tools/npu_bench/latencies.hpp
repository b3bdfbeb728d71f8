#pragma once

#include <chrono>
#include <vector>

/// Of many inferences, in milliseconds. A percentile is the smallest value that as many are not
/// above (nearest rank).
struct LatencySummary {
  double average = 0, minimum = 0, median = 0, p90 = 0, p99 = 0, maximum = 0;
};

/// All zero for no inference.
LatencySummary summarise(std::vector<std::chrono::nanoseconds> latencies);
