#include "track/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace npu::vision {
namespace {

using Costs = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

/// Savings of the pairs: alone, each would cost 1.
double saved(const Costs& costs, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  double sum = 0;
  for (const auto& pair : pairs) {
    sum += 1 - costs.at(pair);
  }
  return sum;
}

/// The most that any pairs save, by trying all.
double most_saved(const Costs& costs, std::uint32_t row, std::uint32_t rows, std::uint32_t columns,
                  std::uint32_t taken) {
  if (row == rows) return 0;
  double most = most_saved(costs, row + 1, rows, columns, taken);
  for (std::uint32_t column = 0; column < columns; ++column) {
    const auto cost = costs.find({row, column});
    if (cost == costs.end() || (taken >> column & 1) != 0) continue;
    most = std::max(
        most, 1 - cost->second + most_saved(costs, row + 1, rows, columns, taken | 1U << column));
  }
  return most;
}

// A detector without suppression connects each row with each column. Rows go with their own
// columns, which are by far the cheapest.
TEST(Assignment, OfVeryManyTakesTheCheapestFirst) {
  constexpr std::uint32_t kCount = 600;
  Assignment assignment;
  assignment.begin(kCount, kCount);
  for (std::uint32_t row = 0; row < kCount; ++row) {
    for (std::uint32_t column = 0; column < kCount; ++column) {
      assignment.add(row, column, row == column ? 0.01 : 0.5 + 0.4 * ((row + column) % 97) / 97);
    }
  }
  const auto pairs = assignment.solve();
  EXPECT_EQ(pairs.size(), kCount);
  EXPECT_TRUE(std::all_of(pairs.begin(), pairs.end(),
                          [](const auto& pair) { return pair.first == pair.second; }));
}

TEST(Assignment, IsTheCheapestOfAll) {
  std::mt19937 random(4);
  Assignment assignment;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t rows = 1 + random() % 6, columns = 1 + random() % 6;
    assignment.begin(rows, columns);
    Costs costs;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t column = 0; column < columns; ++column) {
        if (random() % 3 == 0) continue;
        const double cost = std::uniform_real_distribution(0.0, 0.999)(random);
        costs[{row, column}] = round % 2 == 0 ? cost : std::floor(cost * 4) / 4;  // many are equal
        assignment.add(row, column, costs[{row, column}]);
      }
    }
    const auto pairs = assignment.solve();
    std::vector<int> of_row(rows), of_column(columns);
    for (const auto& [row, column] : pairs) {
      EXPECT_EQ(++of_row[row], 1);
      EXPECT_EQ(++of_column[column], 1);
    }
    EXPECT_NEAR(saved(costs, pairs), most_saved(costs, 0, rows, columns, 0), 1e-9) << round;
  }
}

// Too many to try all: made so that no pairs are cheaper than those of each row with its own
// column, of which each costs what its row and its column ask for, and all others as much or more.
TEST(Assignment, OfManyIsTheCheapestOfAll) {
  constexpr std::uint32_t kRows = 150, kColumns = 180;
  std::mt19937 random(9);
  Assignment assignment;
  for (int round = 0; round < 6; ++round) {
    const double step = round % 2 == 0 ? 1e-9 : 0.05;  // the coarse one makes many equal
    const auto part = [&](double most) {
      return std::floor(std::uniform_real_distribution(0.0, most)(random) / step) * step;
    };
    std::vector<double> rows(kRows), columns(kColumns);
    std::generate(rows.begin(), rows.end(), [&] { return part(0.5); });
    std::generate(columns.begin(), columns.begin() + kRows, [&] { return part(0.3); });
    std::fill(columns.begin() + kRows, columns.end(), 0.3);
    std::vector<std::uint32_t> own(kColumns);
    std::iota(own.begin(), own.end(), 0U);
    std::shuffle(own.begin(), own.begin() + kRows, random);
    assignment.begin(kRows, kColumns);
    Costs costs;
    double least = 0;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t column = 0; column < kColumns; ++column) {
        const bool is_own = own[row] == column;
        const double cost = rows[row] + columns[column] + (is_own ? 0 : part(0.15));
        least += is_own ? cost : 0;
        costs[{row, column}] = cost;
        assignment.add(row, column, cost);
      }
    }
    EXPECT_NEAR(saved(costs, assignment.solve()), kRows - least, 1e-9) << round;
  }
}

TEST(Assignment, LeavesRowsAndColumnsAlone) {
  Assignment assignment;
  assignment.begin(2, 0);
  EXPECT_TRUE(assignment.solve().empty());
  assignment.begin(0, 0);
  EXPECT_TRUE(assignment.solve().empty());
  assignment.begin(3, 3);
  assignment.add(1, 2, 0.5);
  ASSERT_EQ(assignment.solve().size(), 1U);
  EXPECT_EQ(assignment.solve()[0], std::pair(1U, 2U));
}

TEST(Assignment, PrefersTwoGoodPairsToTheBestOne) {
  Assignment assignment;
  assignment.begin(2, 2);
  assignment.add(0, 0, 0.1);
  assignment.add(0, 1, 0.2);
  assignment.add(1, 0, 0.3);
  const auto pairs = assignment.solve();
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_NE(std::find(pairs.begin(), pairs.end(), std::pair(0U, 1U)), pairs.end());
  EXPECT_NE(std::find(pairs.begin(), pairs.end(), std::pair(1U, 0U)), pairs.end());
}

}  // namespace
}  // namespace npu::vision
