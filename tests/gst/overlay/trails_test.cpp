#include "overlay/trails.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gstnpu {
namespace {

FoundObject at(guint64 id, double x, double y) {
  FoundObject region{.x = x - 10, .y = y - 20, .width = 20, .height = 20};
  region.identity = Identity{id};
  return region;
}

class TrailsTest : public testing::Test {
 protected:
  /// Moves an object to the right by 10 pixels a second.
  void walk(double from, double to) {
    for (double second = from; second <= to; second += 0.5) {
      const std::vector<FoundObject> regions{at(7, 10 * second, 50)};
      trails_.update(second, 2, 2, Anchor::kBottom, regions);
    }
  }
  std::size_t points_of(guint64 id) const {
    const auto found = trails_.trails().find(id);
    return found == trails_.trails().end() ? 0 : found->second.points.size();
  }

  Trails trails_;
};

TEST_F(TrailsTest, FollowTheFootPointForTheirLength) {
  walk(0, 10);
  const auto& points = trails_.trails().at(7).points;
  ASSERT_EQ(points.size(), 5U);
  EXPECT_EQ(points.front().x, 80);
  EXPECT_EQ(points.back().x, 100);
  EXPECT_EQ(points.back().y, 50);
}

TEST_F(TrailsTest, FollowTheMiddle) {
  const std::vector<FoundObject> regions{at(7, 30, 50)};
  trails_.update(0, 2, 2, Anchor::kCenter, regions);
  EXPECT_EQ(trails_.trails().at(7).points.back().y, 40);
}

TEST_F(TrailsTest, EndWithTheirObject) {
  walk(0, 1);
  trails_.update(2.9, 2, 2, Anchor::kBottom, {});
  EXPECT_EQ(points_of(7), 1U);
  trails_.update(3.1, 2, 2, Anchor::kBottom, {});
  EXPECT_TRUE(trails_.trails().empty());
}

TEST_F(TrailsTest, BeginAnewWhereTimeGoesBack) {
  walk(0, 5);
  walk(1, 1);
  EXPECT_EQ(points_of(7), 1U);
}

// A detector's box trembles.
TEST_F(TrailsTest, AnObjectThatStandsStillHasNone) {
  for (int i = 0; i < 50; ++i) {
    const std::vector<FoundObject> regions{at(7, 100 + i % 2, 50)};
    trails_.update(i / 50.0, 2, 2, Anchor::kBottom, regions);
  }
  EXPECT_EQ(points_of(7), 1U);
}

TEST_F(TrailsTest, NeedAnIdentity) {
  FoundObject region = at(7, 30, 50);
  region.identity.reset();
  trails_.update(0, 2, 2, Anchor::kBottom, std::vector<FoundObject>{region});
  EXPECT_TRUE(trails_.trails().empty());
}

TEST_F(TrailsTest, TakeAnyNumbersAndRemember) {
  for (guint64 i = 0; i < 3000; ++i) {
    const double number = static_cast<double>(i);
    std::vector<FoundObject> regions{at(i, number, 50), at(7777, 5 * number, 50), at(8888, NAN, 5),
                                     at(9999, 5, std::numeric_limits<double>::infinity())};
    trails_.update(number / 3000, 2, 2, Anchor::kBottom, regions);
  }
  EXPECT_LE(trails_.trails().size(), 1000U);
  EXPECT_LE(points_of(7777), 500U);
  EXPECT_GE(points_of(7777), 400U);
  EXPECT_EQ(points_of(8888) + points_of(9999), 0U);
}

}  // namespace
}  // namespace gstnpu
