#include "support/samples.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace npu::test {
namespace {

/// The table with a number for each name.
struct Numbered {
  std::vector<std::vector<std::size_t>> rows;
  std::size_t count = 0;
};

Numbered number(const std::vector<Seen>& table) {
  std::unordered_map<std::string, std::size_t> numbers;
  Numbered numbered;
  for (const auto& names : table) {
    auto& row = numbered.rows.emplace_back();
    for (const auto& name : names) {
      row.push_back(numbers.try_emplace(name, numbers.size()).first->second);
    }
  }
  numbered.count = numbers.size();
  return numbered;
}

/// Again and again the row that sees most of what none has seen yet, the first of equals.
std::vector<std::size_t> cover(const Numbered& table) {
  std::vector<bool> seen(table.count);
  std::vector<std::size_t> gains, taken;  // gains only shrink: an old one is an upper bound
  for (const auto& row : table.rows) gains.push_back(row.size());
  while (true) {
    const auto best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best == 0) break;
    const auto index = static_cast<std::size_t>(best - gains.begin());
    const auto& row = table.rows[index];
    const auto bound = std::exchange(
        *best, std::count_if(row.begin(), row.end(), [&](auto thing) { return !seen[thing]; }));
    if (*best < bound) continue;
    taken.push_back(index);
    for (const auto thing : row) seen[thing] = true;
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace

bool every_row_is_wanted() {
  const char* const samples = std::getenv("NPU_TEST_SAMPLES");
  return samples && std::string_view(samples) == "all";
}

std::vector<int> every_nth(int count, int step, int first) {
  const bool every = every_row_is_wanted();
  std::vector<int> numbers;
  for (int i = every ? 0 : first; i < count; i += every ? 1 : step) numbers.push_back(i);
  return numbers;
}

Seen pairs_of(const std::vector<std::string>& values) {
  Seen pairs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto first = std::to_string(i) + ' ' + values[i] + ' ';
    for (auto j = i + 1; j < values.size(); ++j) {
      pairs.push_back(first + std::to_string(j) + ' ' + values[j]);
    }
  }
  return pairs;
}

std::vector<std::size_t> sample(const std::vector<Seen>& table) {
  if (!every_row_is_wanted()) return cover(number(table));
  std::vector<std::size_t> every(table.size());
  std::iota(every.begin(), every.end(), std::size_t{0});
  return every;
}

}  // namespace npu::test
