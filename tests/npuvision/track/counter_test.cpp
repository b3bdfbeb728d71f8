#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/counter.hpp>

#include "support/expect.hpp"

namespace npu::vision {
namespace {

using Kind = CountEvent::Kind;

constexpr double kStep = 0.1;  // seconds

Zone middle() {
  return {"middle", {{0.4, 0.4}, {0.6, 0.4}, {0.6, 0.6}, {0.4, 0.6}}};
}
/// A line from left to right: forward is downwards.
CountLine across(double from = 0, double to = 1) {
  return {"across", {from, 0.5}, {to, 0.5}};
}

/// Moves one object along places, one each step.
void walk(Counter* counter, const std::vector<FramePoint>& places, std::uint64_t id = 1,
          double begin = 0) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    counter->update(begin + kStep * static_cast<double>(i), std::vector{Sighting{id, places[i]}});
  }
}

TEST(Zones, TellWhoIsInsideAndHowLong) {
  Counter counter({middle()}, {}, 1);
  walk(&counter, {{0.1, 0.5}, {0.45, 0.5}, {0.5, 0.5}, {0.55, 0.5}});
  ASSERT_EQ(counter.zone_counts()[0].inside.size(), 1U);
  EXPECT_EQ(counter.zone_counts()[0].inside[0].id, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].inside[0].seconds, 0.2, 1e-9);
  EXPECT_EQ(counter.zone_counts()[0].entered, 1U);
  counter.update(0.4, std::vector{Sighting{1, {0.7, 0.5}}});
  EXPECT_TRUE(counter.zone_counts()[0].inside.empty());
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].seconds_of_left, 0.3, 1e-9);
  ASSERT_EQ(counter.events().size(), 1U);
  EXPECT_EQ(counter.events()[0].kind, Kind::kLeft);
  EXPECT_EQ(counter.events()[0].place, "middle");
  EXPECT_NEAR(counter.events()[0].seconds.value_or(0), 0.3, 1e-9);
}

TEST(Zones, CountWhoAppearsInside) {
  Counter counter({middle()}, {}, 1);
  walk(&counter, {{0.5, 0.5}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 1U);
}

// Identities that come and go, however patient the counter is.
TEST(Zones, AreLeftByTheOldestOfVeryMany) {
  Counter counter({middle()}, {}, 1e9);
  std::vector<Sighting> sightings(1000);
  std::uint64_t id = 0;
  for (int i = 0; i < 30; ++i) {
    for (Sighting& sighting : sightings) sighting = {++id, {0.5, 0.5}};
    counter.update(kStep * i, sightings);
    EXPECT_LE(counter.zone_counts()[0].inside.size(), 17000U);
  }
  const ZoneCount& zone = counter.zone_counts()[0];
  EXPECT_EQ(zone.inside.back().id, 30000U);
  EXPECT_EQ(zone.entered, 30000U);
  EXPECT_EQ(zone.left + zone.inside.size(), 30000U);
}

TEST(Zones, AreLeftByWhoIsSeenNoMoreWhenItWasSeenLast) {
  Counter counter({middle()}, {}, 0.5);
  walk(&counter, {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}});
  counter.update(0.6, {});
  EXPECT_EQ(counter.zone_counts()[0].inside.size(), 1U) << "hidden for a moment";
  counter.update(0.8, {});
  EXPECT_EQ(counter.zone_counts()[0].inside.size(), 0U);
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].seconds_of_left, 0.2, 1e-9);
}

TEST(Zones, MayBeHollow) {
  const Zone angle{"L", {{0, 0}, {1, 0}, {1, 0.2}, {0.2, 0.2}, {0.2, 1}, {0, 1}}};
  Counter counter({angle}, {}, 1);
  walk(&counter, {{0.9, 0.1}, {0.5, 0.5}, {0.1, 0.9}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 2U);
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
}

// A box that the frame cuts off ends at 1.
TEST(Zones, ReachToTheEdgesOfTheFrame) {
  Counter counter({{"all", {{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}, {}, 1);
  const std::vector<FramePoint> corners = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0.5, 1}, {1, 0.5}};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    counter.update(kStep * static_cast<double>(i), std::vector{Sighting{i, corners[i]}});
    EXPECT_EQ(counter.zone_counts()[0].entered, i + 1) << corners[i].x << ", " << corners[i].y;
  }
  walk(&counter, {{1.001, 0.5}, {0.5, 1.001}, {-0.001, 0.5}}, 9, 1);
  EXPECT_EQ(counter.zone_counts()[0].entered, corners.size()) << "outside of the frame";
}

TEST(Zones, ThatShareAnEdgeDoNotShareWhoStandsOnIt) {
  const Zone left{"left", {{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}}};
  const Zone right{"right", {{0.5, 0}, {1, 0}, {1, 1}, {0.5, 1}}};
  Counter counter({left, right}, {}, 1);
  walk(&counter, {{0.5, 0.5}, {0.5, 1}});
  EXPECT_EQ(counter.zone_counts()[0].entered + counter.zone_counts()[1].entered, 1U);
}

TEST(Zones, AreNotLeftByWhoTrembles) {
  Counter counter({middle()}, {}, 1, 0.02);
  walk(&counter, {{0.3, 0.5}, {0.401, 0.5}, {0.399, 0.5}, {0.39, 0.5}, {0.405, 0.5}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 1U);
  EXPECT_EQ(counter.zone_counts()[0].left, 0U);
  walk(&counter, {{0.39, 0.5}, {0.385, 0.5}}, 1, 0.5);
  EXPECT_NEAR(counter.zone_counts()[0].inside.at(0).seconds, 0.4, 1e-9);
  walk(&counter, {{0.3, 0.5}}, 1, 0.7);
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].seconds_of_left, 0.4, 1e-9) << "until it went out";
}

TEST(Zones, AreLeftWhereWhoWentOutIsSeenNoMore) {
  Counter counter({middle()}, {}, 0.5, 0.02);
  walk(&counter, {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.61}, {0.5, 0.61}, {0.5, 0.61}});
  counter.update(2, {});
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].seconds_of_left, 0.2, 1e-9);
}

// Its corners are nearer than its edges.
TEST(Zones, AreFarWhereAllOfThemIs) {
  Counter counter({middle()}, {}, 1, 0.05);
  walk(&counter, {{0.5, 0.5}, {0.63, 0.63}, {0.64, 0.5}});
  EXPECT_EQ(counter.zone_counts()[0].left, 0U);
  walk(&counter, {{0.64, 0.64}}, 1, 0.3);
  EXPECT_EQ(counter.zone_counts()[0].left, 1U);
}

// As corners make it that are clicked in the wrong order.
TEST(Zones, MayCrossThemselves) {
  const Zone bow{"bow", {{0, 0}, {1, 1}, {1, 0}, {0, 1}}};
  Counter counter({bow}, {}, 1);
  walk(&counter, {{0.1, 0.5}, {0.5, 0.1}, {0.9, 0.5}, {0.5, 0.9}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 2U);
  EXPECT_EQ(counter.zone_counts()[0].left, 2U);
}

TEST(Lines, CountEachWay) {
  Counter counter({}, {across()}, 1);
  walk(&counter, {{0.5, 0.3}, {0.5, 0.45}, {0.5, 0.55}, {0.5, 0.7}});
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  walk(&counter, {{0.5, 0.6}, {0.5, 0.4}}, 1, 1);
  EXPECT_EQ(counter.line_counts()[0].backward, 1U);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  ASSERT_EQ(counter.events().size(), 1U);
  EXPECT_EQ(counter.events()[0].kind, Kind::kBackward);
}

TEST(Lines, CountNobodyWhoTurnsBackOnThem) {
  Counter counter({}, {across()}, 1);
  walk(&counter, {{0.5, 0.4}, {0.5, 0.5}, {0.5, 0.5}, {0.5, 0.4}});
  EXPECT_EQ(counter.line_counts()[0].forward + counter.line_counts()[0].backward, 0U);
  walk(&counter, {{0.5, 0.5}, {0.5, 0.6}}, 1, 1);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U) << "who goes on has crossed";
}

TEST(Lines, EndWhereTheyEnd) {
  Counter counter({}, {across(0.4, 0.6)}, 1);
  walk(&counter, {{0.2, 0.4}, {0.2, 0.6}});
  walk(&counter, {{0.7, 0.4}, {0.7, 0.6}}, 2, 1);
  EXPECT_EQ(counter.line_counts()[0].forward, 0U);
  walk(&counter, {{0.3, 0.4}, {0.6, 0.6}}, 3, 2);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U) << "aslant";
}

TEST(Lines, ThatShareAnEndCountOnce) {
  Counter counter({}, {across(0, 0.5), across(0.5, 1)}, 1);
  walk(&counter, {{0.5, 0.4}, {0.5, 0.6}});
  EXPECT_EQ(counter.line_counts()[0].forward + counter.line_counts()[1].forward, 1U);
}

// A box that trembles as detectors' do, on somebody who walks over the line and stops there.
TEST(Lines, AreCrossedOnceByWhoTrembles) {
  Counter exact({}, {across()}, 1), counter({}, {across()}, 1, 0.02);
  const std::vector<FramePoint> places = {{0.5, 0.4},   {0.5, 0.505}, {0.5, 0.495}, {0.5, 0.51},
                                          {0.5, 0.485}, {0.5, 0.501}, {0.5, 0.6}};
  walk(&exact, places);
  EXPECT_EQ(exact.line_counts()[0].forward, 3U) << "no margin";
  walk(&counter, places);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  EXPECT_EQ(counter.line_counts()[0].backward, 0U);
  walk(&counter, {{0.5, 0.495}, {0.5, 0.505}, {0.5, 0.4}}, 1, 1);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  EXPECT_EQ(counter.line_counts()[0].backward, 1U) << "was farther away between";
}

TEST(Lines, CountAWayBackThatBeganBesideThem) {
  Counter counter({}, {across()}, 1, 0.02);
  walk(&counter, {{0.5, 0.4}, {0.5, 0.51}});
  EXPECT_EQ(counter.line_counts()[0].forward, 1U) << "at once";
  walk(&counter, {{0.5, 0.49}}, 1, 0.2);
  EXPECT_EQ(counter.line_counts()[0].backward, 0U) << "may tremble";
  walk(&counter, {{0.5, 0.47}}, 1, 0.3);
  EXPECT_EQ(counter.line_counts()[0].backward, 1U);
}

TEST(Lines, AreNotCrossedPastTheirEndsByWhoTrembles) {
  Counter counter({}, {across(0.4, 0.6)}, 1, 0.02);
  walk(&counter, {{0.5, 0.4}, {0.5, 0.51}, {0.7, 0.51}, {0.7, 0.49}, {0.5, 0.47}});
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  EXPECT_EQ(counter.line_counts()[0].backward, 0U) << "went around the end";
}

TEST(Lines, DoNotJoinWhatWasLost) {
  Counter counter({}, {across()}, 0.5);
  walk(&counter, {{0.5, 0.4}});
  counter.update(1, {});
  counter.update(1.1, std::vector{Sighting{1, {0.5, 0.6}}});
  EXPECT_EQ(counter.line_counts()[0].forward, 0U);
}

// Objects that walk at random: what is counted is what follows from their true paths.
TEST(Counting, AgreesWithTheTruthOfAHundredPaths) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> anywhere(0, 1), step(-0.06, 0.06);
  Counter counter({middle()}, {across(0.1, 0.9)}, 100);
  std::vector<FramePoint> places(100);
  for (FramePoint& place : places) place = {anywhere(random), anywhere(random)};
  std::uint64_t forward = 0, backward = 0, entered = 0, left = 0;
  const auto is_inside = [](const FramePoint& at) {
    return at.x > 0.4 && at.x < 0.6 && at.y > 0.4 && at.y < 0.6;
  };
  for (int frame = 0; frame < 300; ++frame) {
    std::vector<Sighting> sightings;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const FramePoint before = places[i];
      if (frame > 0) {
        places[i] = {std::clamp(before.x + step(random), 0.0, 1.0),
                     std::clamp(before.y + step(random), 0.0, 1.0)};
        const double share = (0.5 - before.y) / (places[i].y - before.y);
        const double x = before.x + share * (places[i].x - before.x);
        const bool crosses = (before.y < 0.5) != (places[i].y < 0.5) && x > 0.1 && x < 0.9;
        forward += crosses && before.y < 0.5;
        backward += crosses && before.y >= 0.5;
        left += is_inside(before) && !is_inside(places[i]);
      }
      entered += is_inside(places[i]) && (frame == 0 || !is_inside(before));
      sightings.push_back({i, places[i]});
    }
    counter.update(frame * kStep, sightings);
  }
  EXPECT_GT(forward, 100U);
  EXPECT_EQ(counter.line_counts()[0].forward, forward);
  EXPECT_EQ(counter.line_counts()[0].backward, backward);
  EXPECT_EQ(counter.zone_counts()[0].entered, entered);
  EXPECT_EQ(counter.zone_counts()[0].left, left);
  EXPECT_EQ(counter.zone_counts()[0].inside.size(), entered - left);
}

TEST(Counting, ForgetsObjectsButNoTotals) {
  Counter counter({middle()}, {across()}, 1);
  walk(&counter, {{0.5, 0.45}, {0.5, 0.55}});
  counter.forget_objects();
  EXPECT_TRUE(counter.zone_counts()[0].inside.empty());
  walk(&counter, {{0.5, 0.45}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 2U);
  EXPECT_EQ(counter.zone_counts()[0].left, 0U);
  EXPECT_EQ(counter.line_counts()[0].forward, 1U);
  EXPECT_EQ(counter.line_counts()[0].backward, 0U);
}

// A file that is played again, a camera that was restarted.
TEST(Counting, ForgetsObjectsWhereTimeGoesBack) {
  Counter counter({middle()}, {across()}, 1);
  walk(&counter, {{0.5, 0.45}, {0.5, 0.45}}, 1, 100);
  counter.update(0, std::vector{Sighting{2, {0.1, 0.1}}});
  EXPECT_TRUE(counter.zone_counts()[0].inside.empty());
  counter.update(0.1, std::vector{Sighting{1, {0.5, 0.9}}});
  EXPECT_TRUE(counter.events().empty());
  EXPECT_EQ(counter.zone_counts()[0].left, 0U);
  EXPECT_EQ(counter.zone_counts()[0].seconds_of_left, 0);
  EXPECT_EQ(counter.line_counts()[0].forward, 0U);
}

// As two trackers that both begin at 1 would make of each frame.
TEST(Counting, TakesOneSightingOfAnIdInAFrame) {
  Counter counter({middle()}, {across()}, 1);
  for (int i = 0; i < 5; ++i) {
    counter.update(kStep * i, std::vector{Sighting{1, {0.5, 0.45}}, Sighting{1, {0.5, 0.9}}});
  }
  EXPECT_EQ(counter.zone_counts()[0].entered, 1U);
  EXPECT_EQ(counter.zone_counts()[0].left, 0U);
  EXPECT_EQ(counter.line_counts()[0].forward + counter.line_counts()[0].backward, 0U);
}

TEST(Counting, GoesOnFromTotals) {
  Counter counter({middle()}, {across()}, 1);
  counter.set_zone_totals(0, 4, 3, 6.0);
  counter.set_line_totals(0, 7, 2);
  walk(&counter, {{0.5, 0.45}, {0.5, 0.55}, {0.9, 0.9}});
  EXPECT_EQ(counter.zone_counts()[0].entered, 5U);
  EXPECT_EQ(counter.zone_counts()[0].left, 4U);
  EXPECT_NEAR(counter.zone_counts()[0].seconds_of_left, 6.2, 1e-9);
  EXPECT_EQ(counter.line_counts()[0].forward, 8U);
  EXPECT_EQ(counter.line_counts()[0].backward, 2U);
}

TEST(Counting, TakesAnyPlaces) {
  Counter counter({middle()}, {across()}, 1);
  const double numbers[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0.5, 0, 1};
  double seconds = 0;
  for (const double x : numbers) {
    for (const double y : numbers) {
      counter.update(seconds += kStep, std::vector{Sighting{1, {x, y}}, Sighting{1, {y, x}}});
    }
  }
  EXPECT_LE(counter.zone_counts()[0].left, counter.zone_counts()[0].entered);
}

TEST(Counting, TakesATimeThatIsNone) {
  Counter counter({middle()}, {across()}, 1);
  const double times[] = {NAN, 0, 0.1, NAN, INFINITY, -INFINITY, 0.2};
  for (const double seconds : times) {
    counter.update(seconds, std::vector{Sighting{1, {0.5, 0.55}}});
    ASSERT_EQ(counter.zone_counts()[0].inside.size(), 1U);
    EXPECT_GE(counter.zone_counts()[0].inside[0].seconds, 0) << seconds;
  }
  EXPECT_EQ(counter.zone_counts()[0].entered, 1U);
  EXPECT_NEAR(counter.zone_counts()[0].inside[0].seconds, 0.2, 1e-9);
}

std::string refusal(const std::vector<Zone>& zones, const std::vector<CountLine>& lines) {
  try {
    const Counter counter(zones, lines, 1);
  } catch (const npu::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Counting, RefusesPlacesThatAreNone) {
  EXPECT_TRUE(has(refusal({{"door", {{0, 0}, {1, 1}}}}, {}), "zone \"door\" has fewer than three"));
  EXPECT_TRUE(has(refusal({{"flat", {{0, 0}, {0.5, 0.5}, {1, 1}}}}, {}), "has no area"));
  EXPECT_TRUE(has(refusal({{"way and back", {{0, 0}, {0.5, 0}, {0.5, 0.5}, {0.5, 0}}}}, {}),
                  "has no area"));
  EXPECT_TRUE(has(refusal({{"far", {{0, 0}, {640, 0}, {0, 360}}}}, {}), "outside of the frame"));
  EXPECT_TRUE(has(refusal({}, {{"dot", {0.5, 0.5}, {0.5, 0.5}}}), "line \"dot\" has no length"));
  EXPECT_TRUE(has(refusal({}, {{"nan", {NAN, 0.5}, {0.5, 0.5}}}), "outside of the frame"));
}

TEST(Counting, RefusesATimeAndAMarginThatAreNone) {
  for (const double odd : {-0.5, -HUGE_VAL, static_cast<double>(NAN)}) {
    EXPECT_THROW(Counter({middle()}, {}, odd), npu::Error) << odd;
    EXPECT_THROW(Counter({middle()}, {}, 1, odd), npu::Error) << odd;
  }
  // Nobody ever leaves, nor crosses a line again.
  Counter patient({middle()}, {across()}, HUGE_VAL, HUGE_VAL);
  walk(&patient, {{0.5, 0.45}, {0.5, 0.55}, {0.5, 0.1}, {0.5, 0.9}});
  EXPECT_EQ(patient.zone_counts()[0].left, 0U);
  EXPECT_EQ(patient.line_counts()[0].forward, 1U);
  EXPECT_EQ(patient.line_counts()[0].backward, 0U);
}

}  // namespace
}  // namespace npu::vision
