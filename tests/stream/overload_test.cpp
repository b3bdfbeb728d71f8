#include "run/overload.hpp"

#include <gtest/gtest.h>

namespace npustream {
namespace {

TEST(Shares, GiveAllWhatTheyWantWhereThereIsRoom) {
  EXPECT_EQ(shares_of({{10, 1, 0}, {20, 1, 3}}, 40), (std::vector<double>{10, 20}));
}

TEST(Shares, AreEqualForEqualStreams) {
  const auto rates = shares_of({{15, 1, 0}, {15, 1, 0}, {15, 1, 0}}, 30);
  for (const double rate : rates) EXPECT_NEAR(rate, 10, 1e-6);
}

TEST(Shares, LeaveLowPriorityItsFloor) {
  const auto rates = shares_of({{15, 2, 0}, {15, 2, 0}, {15, 2, 5}}, 20);
  EXPECT_NEAR(rates[2], 15, 1e-6);
  EXPECT_NEAR(rates[0], 2.5, 1e-6);
  EXPECT_NEAR(rates[1], 2.5, 1e-6);
}

TEST(Shares, ShrinkFloorsThatDoNotFit) {
  const auto rates = shares_of({{15, 10, 0}, {15, 10, 5}}, 10);
  EXPECT_NEAR(rates[0], 5, 1e-6);
  EXPECT_NEAR(rates[1], 5, 1e-6);
}

TEST(Overload, BeginsAfterSecondsAndEndsWithRoom) {
  Overload overload;
  const DeviceLoad bad = {.inferred = 50, .missed = 40, .wanted = 90, .busy = 1};
  overload.update(bad);
  overload.update(bad);
  EXPECT_FALSE(overload.is_overloaded());
  overload.update(bad);
  EXPECT_NEAR(overload.capacity(), 45, 1e-6);
  for (int i = 0; i < 20; ++i)
    overload.update({.inferred = 45, .missed = 0, .wanted = 90, .busy = 0.9});
  EXPECT_TRUE(overload.is_overloaded());
  for (int i = 0; i < 10; ++i)
    overload.update({.inferred = 40, .missed = 0, .wanted = 40, .busy = 0.8});
  EXPECT_FALSE(overload.is_overloaded());
}

TEST(Overload, IsNoneWhileTheDeviceHasTime) {
  Overload overload;
  for (int i = 0; i < 50; ++i)
    overload.update({.inferred = 10, .missed = 80, .wanted = 90, .busy = 0.1});
  EXPECT_FALSE(overload.is_overloaded());
}

TEST(Overload, IgnoresABusyMoment) {
  Overload overload;
  for (int i = 0; i < 50; ++i)
    overload.update({.inferred = 100, .missed = i % 3 == 0 ? 50.0 : 0.0, .wanted = 150, .busy = 1});
  EXPECT_FALSE(overload.is_overloaded());
}

}  // namespace
}  // namespace npustream
