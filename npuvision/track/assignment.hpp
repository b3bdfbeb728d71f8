// Who goes with whom, so that the sum of costs is the least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace npu::vision {

/// Pairs rows with columns, each at most once. Pairs that were not added, and rows and columns that
/// stay alone, cost 1 a pair. Keeps its memory.
class Assignment {
 public:
  void begin(std::size_t rows, std::size_t columns);
  /// `cost`: below 1.
  void add(std::size_t row, std::size_t column, double cost);
  /// Of all added pairs those whose sum is the least; of very many that compete, the cheapest
  /// first, for the least takes time in the cube. Valid until begin().
  std::span<const std::pair<std::uint32_t, std::uint32_t>> solve();

 private:
  struct Edge {
    std::uint32_t row, column;
    double cost;
  };

  std::uint32_t root(std::uint32_t node);
  void solve_group(std::span<const Edge> edges);
  void take_cheapest(std::span<const Edge> edges);
  void number(std::span<const Edge> edges);
  void fill(std::span<const Edge> edges);
  void place_row(std::size_t row);

  std::size_t rows_ = 0;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> parents_;  // of rows, then of columns: what is connected
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;

  // Of one group: its rows and columns, numbered from 0.
  std::vector<std::uint32_t> group_rows_, group_columns_, numbers_;
  std::vector<double> costs_;
  std::vector<double> row_price_, column_price_, slack_;
  std::vector<std::size_t> row_of_column_, way_;
  std::vector<char> is_used_;
  std::vector<Edge> by_cost_;
};

}  // namespace npu::vision
