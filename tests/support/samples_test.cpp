#include "support/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace npu::test {
namespace {

using Row = std::tuple<std::string, std::string, std::string>;

Seen seen_by(const Row& row) {
  const auto& [color, size, place] = row;
  return pairs_of({color, size, place});
}

/// Sixty rows, and five of a color that has only one size.
std::vector<Row> table() {
  const std::vector<std::string> colors{"red", "green", "blue"}, sizes{"1", "2", "3", "4"},
      places{"a", "b", "c", "d", "e"}, grey{"grey"}, one{"1"};
  return joined<Row>({every_row(colors, sizes, places), every_row(grey, one, places)});
}

std::set<std::string> seen_by_all(const std::vector<Row>& rows) {
  std::set<std::string> all;
  for (const auto& row : rows) {
    const auto seen = seen_by(row);
    all.insert(seen.begin(), seen.end());
  }
  return all;
}

class SamplesTest : public testing::Test {
 protected:
  SamplesTest() { ::unsetenv("NPU_TEST_SAMPLES"); }
  ~SamplesTest() override { ::unsetenv("NPU_TEST_SAMPLES"); }
};

TEST_F(SamplesTest, SeesEveryPairInFewRows) {
  const auto rows = sample_of(table(), seen_by);
  EXPECT_EQ(seen_by_all(rows), seen_by_all(table()));
  EXPECT_LE(rows.size(), 28U) << "sizes and places alone have 20 pairs, grey has 5";
}

TEST_F(SamplesTest, TakesTheSameRowsInTheirOrder) {
  const auto rows = sample_of(table(), seen_by);
  EXPECT_EQ(rows, sample_of(table(), seen_by));
  auto next = rows.begin();
  for (const auto& row : table()) next += next != rows.end() && *next == row ? 1 : 0;
  EXPECT_EQ(next, rows.end());
}

TEST_F(SamplesTest, TakesWhatOnlyOneRowSees) {
  std::vector<Seen> seen(50, Seen{"all"});
  seen[17].emplace_back("rare");
  EXPECT_EQ(sample(seen), std::vector<std::size_t>{17});
}

TEST_F(SamplesTest, TakesEveryRowWhenAskedTo) {
  ::setenv("NPU_TEST_SAMPLES", "all", 1);
  EXPECT_EQ(sample_of(table(), seen_by), table());
}

TEST_F(SamplesTest, HasNothingOfAnEmptyTable) {
  EXPECT_EQ(sample({}), std::vector<std::size_t>{});
}

}  // namespace
}  // namespace npu::test
