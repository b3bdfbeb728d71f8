#include "map_contents.hpp"

#include <algorithm>
#include <cmath>

namespace gstnpu {

std::map<guint16, std::size_t> counted(const std::vector<guint16>& values) {
  std::map<guint16, std::size_t> counts;
  for (auto at = values.begin(); at != values.end();) {
    const auto end = std::find_if(at, values.end(), [id = *at](guint16 one) { return one != id; });
    counts[*at] += static_cast<std::size_t>(end - at);
    at = end;
  }
  return counts;
}

std::vector<std::pair<guint16, std::size_t>> largest_of(
    const std::map<guint16, std::size_t>& counts, std::size_t most) {
  std::vector<std::pair<guint16, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), most));
  return sorted;
}

std::optional<ValueRange> range_of(const std::vector<float>& values) {
  std::optional<ValueRange> range;
  double sum = 0;
  std::size_t count = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    sum += static_cast<double>(value);
    ++count;
    range = range ? ValueRange{std::min(range->least, value), std::max(range->most, value)}
                  : ValueRange{value, value};
  }
  if (range) {
    range->mean = sum / static_cast<double>(count);
  }
  return range;
}

}  // namespace gstnpu
