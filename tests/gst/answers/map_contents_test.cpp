#include "answers/map_contents.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gstnpu {
namespace {

TEST(ValueRangeTest, IsOfTheFiniteValues) {
  const auto range = range_of({INFINITY, 3, NAN, 1, 2});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->least, 1);
  EXPECT_EQ(range->most, 3);
  EXPECT_EQ(range->mean, 2);
  EXPECT_FALSE(range_of({NAN, INFINITY}));
}

}  // namespace
}  // namespace gstnpu
