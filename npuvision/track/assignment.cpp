#include "assignment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace npu::vision {
namespace {

// Rows times columns of a group: 256 each take some milliseconds.
constexpr std::size_t kMostExact = std::size_t{1} << 16;

}  // namespace

void Assignment::begin(std::size_t rows, std::size_t columns) {
  rows_ = rows;
  edges_.clear();
  pairs_.clear();
  parents_.resize(rows + columns);
  std::iota(parents_.begin(), parents_.end(), 0U);
  numbers_.assign(rows + columns, 0);
}

std::uint32_t Assignment::root(std::uint32_t node) {
  while (parents_[node] != node) {
    node = parents_[node] = parents_[parents_[node]];
  }
  return node;
}

void Assignment::add(std::size_t row, std::size_t column, double cost) {
  edges_.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column), cost});
  parents_[root(static_cast<std::uint32_t>(row))] =
      root(static_cast<std::uint32_t>(rows_ + column));
}

// What is not connected does not compete: most groups of a frame are one row and one column.
std::span<const std::pair<std::uint32_t, std::uint32_t>> Assignment::solve() {
  std::sort(edges_.begin(), edges_.end(), [this](const Edge& a, const Edge& b) {
    const std::uint32_t first = root(a.row), second = root(b.row);
    if (first != second) return first < second;
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  for (std::size_t first = 0; first < edges_.size();) {
    std::size_t last = first;
    while (last < edges_.size() && root(edges_[last].row) == root(edges_[first].row)) {
      ++last;
    }
    solve_group(std::span(edges_).subspan(first, last - first));
    first = last;
  }
  return pairs_;
}

void Assignment::number(std::span<const Edge> edges) {
  group_rows_.clear();
  group_columns_.clear();
  for (const Edge& edge : edges) {
    group_rows_.push_back(edge.row);
    group_columns_.push_back(edge.column);
  }
  for (auto* members : {&group_rows_, &group_columns_}) {
    std::sort(members->begin(), members->end());
    members->erase(std::unique(members->begin(), members->end()), members->end());
  }
  for (std::size_t i = 0; i < group_rows_.size(); ++i) {
    numbers_[group_rows_[i]] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = 0; i < group_columns_.size(); ++i) {
    numbers_[rows_ + group_columns_[i]] = static_cast<std::uint32_t>(i);
  }
}

// A column more for each row: to stay alone is a choice like any other, so that there is a place
// for each row whatever the others take.
void Assignment::fill(std::span<const Edge> edges) {
  const std::size_t columns = group_columns_.size() + group_rows_.size();
  costs_.assign(group_rows_.size() * columns, 1);
  for (const Edge& edge : edges) {
    costs_[numbers_[edge.row] * columns + numbers_[rows_ + edge.column]] = edge.cost;
  }
  row_price_.assign(group_rows_.size() + 1, 0);
  column_price_.assign(columns + 1, 0);
  row_of_column_.assign(columns + 1, 0);
  way_.assign(columns + 1, 0);
}

// One step of the Hungarian method: the cheapest way from a row without a column to a column
// without a row, by Dijkstra's algorithm over reduced costs. Rows and columns count from 1; column
// 0 stands for the row that looks for one.
void Assignment::place_row(std::size_t row) {
  const std::size_t columns = column_price_.size() - 1;
  slack_.assign(columns + 1, std::numeric_limits<double>::infinity());
  is_used_.assign(columns + 1, 0);
  row_of_column_[0] = row;
  std::size_t at = 0;
  do {
    is_used_[at] = 1;
    const std::size_t from = row_of_column_[at];
    double least = std::numeric_limits<double>::infinity();
    std::size_t next = 0;
    for (std::size_t column = 1; column <= columns; ++column) {
      if (is_used_[column]) continue;
      const double reduced =
          costs_[(from - 1) * columns + column - 1] - row_price_[from] - column_price_[column];
      if (reduced < slack_[column]) {
        slack_[column] = reduced;
        way_[column] = at;
      }
      if (slack_[column] < least) {
        least = slack_[column];
        next = column;
      }
    }
    for (std::size_t column = 0; column <= columns; ++column) {
      if (is_used_[column]) {
        row_price_[row_of_column_[column]] += least;
        column_price_[column] -= least;
      } else {
        slack_[column] -= least;
      }
    }
    at = next;
  } while (row_of_column_[at] != 0);
  for (; at != 0; at = way_[at]) {
    row_of_column_[at] = row_of_column_[way_[at]];
  }
}

// One pair after the other, the cheapest first.
void Assignment::take_cheapest(std::span<const Edge> edges) {
  by_cost_.assign(edges.begin(), edges.end());
  std::stable_sort(by_cost_.begin(), by_cost_.end(),
                   [](const Edge& a, const Edge& b) { return a.cost < b.cost; });
  is_used_.assign(group_rows_.size() + group_columns_.size(), 0);
  for (const Edge& edge : by_cost_) {
    char& row = is_used_[numbers_[edge.row]];
    char& column = is_used_[group_rows_.size() + numbers_[rows_ + edge.column]];
    if (row != 0 || column != 0) continue;
    row = column = 1;
    pairs_.emplace_back(edge.row, edge.column);
  }
}

void Assignment::solve_group(std::span<const Edge> edges) {
  if (edges.size() == 1) {
    pairs_.emplace_back(edges[0].row, edges[0].column);
    return;
  }
  number(edges);
  if (group_rows_.size() * group_columns_.size() > kMostExact) return take_cheapest(edges);
  fill(edges);
  for (std::size_t row = 1; row <= group_rows_.size(); ++row) {
    place_row(row);
  }
  const std::size_t columns = column_price_.size() - 1;
  for (std::size_t column = 0; column < group_columns_.size(); ++column) {
    const std::size_t row = row_of_column_[column + 1];
    if (row != 0 && costs_[(row - 1) * columns + column] < 1) {
      pairs_.emplace_back(group_rows_[row - 1], group_columns_[column]);
    }
  }
}

}  // namespace npu::vision
