#include "latencies.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using std::chrono::nanoseconds;

namespace {

double milliseconds(nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

LatencySummary summarise(std::vector<nanoseconds> latencies) {
  if (latencies.empty()) return {};
  std::sort(latencies.begin(), latencies.end());
  const auto count = static_cast<double>(latencies.size());
  const auto percentile = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * count));
    return milliseconds(latencies[std::max<std::size_t>(rank, 1) - 1]);
  };
  const auto sum = std::accumulate(latencies.begin(), latencies.end(), nanoseconds(0));
  return {milliseconds(sum) / count, percentile(0),    percentile(0.5),
          percentile(0.9),           percentile(0.99), percentile(1)};
}
