#include "assignment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace npu::vision {
namespace {

// Largest rows times columns of a group that is solved exactly; larger ones go to take_cheapest().
constexpr std::size_t kMostExact = std::size_t{1} << 16;
constexpr double kAlone = 1;  // cost of a row without a column
constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

void Assignment::begin(std::size_t rows, std::size_t columns) {
  rows_ = rows;
  edges_.clear();
  pairs_.clear();
  parents_.resize(rows + columns);
  std::iota(parents_.begin(), parents_.end(), 0U);
  numbers_.assign(rows + columns, kNone);
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

// Solves each connected group alone: most groups of a frame are one row and one column.
std::span<const std::pair<std::uint32_t, std::uint32_t>> Assignment::solve() {
  sort_into_groups();
  for (std::size_t first = 0; first < edges_.size();) {
    std::size_t last = first;
    const std::uint32_t group = root(edges_[first].row);
    while (last < edges_.size() && root(edges_[last].row) == group) {
      ++last;
    }
    solve_group(std::span(edges_).subspan(first, last - first));
    first = last;
  }
  return pairs_;
}

// Sorts by counting the edges of each group.
void Assignment::sort_into_groups() {
  places_.assign(parents_.size() + 1, 0);
  for (const Edge& edge : edges_) {
    ++places_[root(edge.row) + 1];
  }
  std::partial_sum(places_.begin(), places_.end(), places_.begin());
  sorted_.resize(edges_.size());
  for (const Edge& edge : edges_) {
    sorted_[places_[root(edge.row)]++] = edge;
  }
  std::swap(edges_, sorted_);
}

void Assignment::number(std::span<const Edge> edges) {
  group_rows_.clear();
  group_columns_.clear();
  const auto give = [this](std::uint32_t node, std::uint32_t name, auto* members) {
    if (numbers_[node] != kNone) return;
    numbers_[node] = static_cast<std::uint32_t>(members->size());
    members->push_back(name);
  };
  for (const Edge& edge : edges) {
    give(edge.row, edge.row, &group_rows_);
    give(static_cast<std::uint32_t>(rows_ + edge.column), edge.column, &group_columns_);
  }
}

void Assignment::fill(std::span<const Edge> edges) {
  const std::size_t rows = group_rows_.size(), columns = group_columns_.size();
  costs_.assign(rows * columns, kAlone);
  for (const Edge& edge : edges) {
    costs_[numbers_[edge.row] * columns + numbers_[rows_ + edge.column]] = edge.cost;
  }
  prices_.assign(columns, 0);
  row_of_.assign(columns, kNone);
  column_of_.assign(rows, kNone);
  waiting_.clear();
}

void Assignment::pair(std::uint32_t row, std::uint32_t column) {
  row_of_[column] = row;
  column_of_[row] = column;
}

// The row takes its cheapest column and raises that column's price until the second cheapest, or
// staying alone, is as good. A row that loses its column bids next (augmenting row reduction:
// Jonker and Volgenant, Computing 38, 1987). Raised prices are negative. With two equally good
// columns, a row that would drive another out waits for place_row().
std::uint32_t Assignment::bid(std::uint32_t row) {
  const double* costs = &costs_[row * prices_.size()];
  double least = std::numeric_limits<double>::infinity(), second = least;
  std::uint32_t best = kNone;
  for (std::uint32_t column = 0; column < prices_.size(); ++column) {
    const double cost = costs[column] - prices_[column];
    if (cost < least) {
      second = std::exchange(least, cost);
      best = column;
    } else if (cost < second) {
      second = cost;
    }
  }
  if (least >= kAlone) return kNone;
  const std::uint32_t before = row_of_[best];
  second = std::min(second, kAlone);
  if (before != kNone && second <= least) {
    waiting_.push_back(row);
    return kNone;
  }
  prices_[best] -= second - least;
  pair(row, best);
  if (before != kNone) {
    column_of_[before] = kNone;
  }
  return before;
}

void Assignment::bid_all() {
  const auto rows = static_cast<std::uint32_t>(column_of_.size());
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint32_t bidder = row;
    for (std::uint32_t bids = 0; bidder != kNone && bids < rows; ++bids) {
      bidder = bid(bidder);
    }
    if (bidder != kNone) {
      waiting_.push_back(bidder);
    }
  }
}

// Finds the cheapest path from a row without a column to a free column, or to a row that had better
// stay alone, by Dijkstra's algorithm over reduced costs.
void Assignment::place_row(std::uint32_t row) {
  const std::size_t columns = prices_.size();
  distances_.resize(columns);
  way_.assign(columns, row);
  is_used_.assign(columns, 0);
  for (std::size_t column = 0; column < columns; ++column) {
    distances_[column] = costs_[row * columns + column] - prices_[column];
  }
  double end = kAlone;
  std::uint32_t alone = row, column = kNone;
  for (;;) {
    column = nearest();
    if (column == kNone || distances_[column] >= end) {
      column = alone == row ? kNone : column_of_[alone];
      break;
    }
    is_used_[column] = 1;
    const std::uint32_t from = row_of_[column];
    if (from == kNone) {
      end = distances_[column];
      alone = kNone;
      break;
    }
    if (const double stays = look_from(from, column); stays < end) {
      end = stays;
      alone = from;
    }
  }
  for (std::size_t i = 0; i < columns; ++i) {
    if (is_used_[i] != 0) {
      prices_[i] += std::min(distances_[i] - end, 0.0);
    }
  }
  if (alone != kNone) {
    column_of_[alone] = kNone;
  }
  hand_on(row, column);
}

std::uint32_t Assignment::nearest() const {
  std::uint32_t nearest = kNone;
  for (std::uint32_t column = 0; column < prices_.size(); ++column) {
    if (is_used_[column] == 0 && (nearest == kNone || distances_[column] < distances_[nearest])) {
      nearest = column;
    }
  }
  return nearest;
}

/// Cost of this path if `row`, whose column was reached, stays alone.
double Assignment::look_from(std::uint32_t row, std::uint32_t column) {
  const double* costs = &costs_[row * prices_.size()];
  const double best = costs[column] - prices_[column] - distances_[column];
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    const double distance = costs[i] - prices_[i] - best;
    if (is_used_[i] == 0 && distance < distances_[i]) {
      distances_[i] = distance;
      way_[i] = row;
    }
  }
  return kAlone - best;
}

/// Shifts columns along the path: each row gives its column to the row before it.
void Assignment::hand_on(std::uint32_t first, std::uint32_t column) {
  while (column != kNone) {
    const std::uint32_t row = way_[column];
    const std::uint32_t next = column_of_[row];
    pair(row, column);
    column = row == first ? kNone : next;
  }
}

// Takes the cheapest pairs first.
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
  bid_all();
  for (const std::uint32_t row : waiting_) {
    place_row(row);
  }
  for (std::size_t row = 0; row < group_rows_.size(); ++row) {
    if (column_of_[row] != kNone) {
      pairs_.emplace_back(group_rows_[row], group_columns_[column_of_[row]]);
    }
  }
}

}  // namespace npu::vision
