// Pairs rows with columns at the least total cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace npu::vision {

/// Pairs rows with columns, each at most once. A row or column that stays alone costs as much as a
/// pair that was not added: 1 a pair. Keeps its memory.
class Assignment {
 public:
  void begin(std::size_t rows, std::size_t columns);
  /// `cost` is below 1.
  void add(std::size_t row, std::size_t column, double cost);
  /// Chooses among the added pairs those with the least sum. In very large groups takes the
  /// cheapest pairs first, because the exact solution needs cubic time. Valid until begin().
  std::span<const std::pair<std::uint32_t, std::uint32_t>> solve();

 private:
  struct Edge {
    std::uint32_t row, column;
    double cost;
  };

  std::uint32_t root(std::uint32_t node);
  void sort_into_groups();
  void solve_group(std::span<const Edge> edges);
  void take_cheapest(std::span<const Edge> edges);
  void number(std::span<const Edge> edges);
  void fill(std::span<const Edge> edges);
  void bid_all();
  std::uint32_t bid(std::uint32_t row);
  void place_row(std::uint32_t row);
  std::uint32_t nearest() const;
  double look_from(std::uint32_t row, std::uint32_t column);
  void hand_on(std::uint32_t first, std::uint32_t column);
  void pair(std::uint32_t row, std::uint32_t column);

  std::size_t rows_ = 0;
  std::vector<Edge> edges_, sorted_;
  std::vector<std::size_t> places_;
  std::vector<std::uint32_t> parents_;  // rows, then columns; a union-find of connected ones
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;

  // For one group, with rows and columns numbered from 0:
  std::vector<std::uint32_t> group_rows_, group_columns_, numbers_;
  std::vector<double> costs_;  // by row, then column
  std::vector<double> prices_, distances_;
  std::vector<std::uint32_t> row_of_, column_of_, way_, waiting_;
  std::vector<char> is_used_;
  std::vector<Edge> by_cost_;
};

}  // namespace npu::vision
