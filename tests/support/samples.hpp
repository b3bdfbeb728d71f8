// A few rows of a large table of tests, which see together what all of its rows see.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace npu::test {

/// A name for each thing that the test of a row sees.
using Seen = std::vector<std::string>;

/// Every two of a row's values, which the test sees meet.
Seen pairs_of(const std::vector<std::string>& values);

/// Whether NPU_TEST_SAMPLES is "all".
bool every_row_is_wanted();

/// Indices of rows, in order: few of them, so that what any row sees, one of these sees.
/// NPU_TEST_SAMPLES=all takes every row.
std::vector<std::size_t> sample(const std::vector<Seen>& table);

template <class Row>
std::vector<Row> sample_of(const std::vector<Row>& table, Seen (*seen_by)(const Row&)) {
  std::vector<Seen> seen;
  for (const auto& row : table) seen.push_back(seen_by(row));
  std::vector<Row> rows;
  for (const auto index : sample(seen)) rows.push_back(table[index]);
  return rows;
}

/// `first`, and each `step`-th number behind it below `count`; all from 0 on where every row is
/// wanted.
std::vector<int> every_nth(int count, int step, int first = 0);

/// A row for each value with each of the others', as testing::Combine makes them.
template <class Value>
std::vector<std::tuple<Value>> every_row(const std::vector<Value>& values) {
  return {values.begin(), values.end()};
}
template <class Value, class... Others>
auto every_row(const std::vector<Value>& values, const std::vector<Others>&... others) {
  std::vector<std::tuple<Value, Others...>> rows;
  for (const auto& value : values) {
    for (const auto& rest : every_row(others...)) {
      rows.push_back(std::tuple_cat(std::tuple(value), rest));
    }
  }
  return rows;
}

/// The rows of several tables, one after the other.
template <class Row>
std::vector<Row> joined(const std::vector<std::vector<Row>>& tables) {
  std::vector<Row> rows;
  for (const auto& table : tables) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

}  // namespace npu::test
