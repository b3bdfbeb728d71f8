#include "overlay/statistics.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/foreign_locale.hpp"

namespace gstnpu {
namespace {

constexpr gint64 kFrame_us = 40000;  // 25 a second
constexpr const char* kDot = " \u00b7 ";

std::vector<FoundObject> objects(std::initializer_list<const char*> labels) {
  std::vector<FoundObject> regions;
  for (const char* label : labels) regions.push_back({.label = label});
  return regions;
}

/// The line after so many frames, each of which was inferred in 8 ms.
std::string line_after(int frames, Statistics* statistics,
                       const std::vector<FoundObject>& regions) {
  for (int i = 0; i < frames; ++i) statistics->count(i * kFrame_us, 8000000, regions);
  return statistics->line();
}

TEST(StatisticsLine, IsEmptyBeforeAFrame) {
  EXPECT_EQ(Statistics(nullptr).line(), "");
}

TEST(StatisticsLine, BeginsWithWhatIsKnownAtOnce) {
  Statistics statistics(nullptr);
  EXPECT_EQ(line_after(1, &statistics, objects({"car"})), "1 car");
}

TEST(StatisticsLine, TellsRateAndLatencyAfterHalfASecond) {
  Statistics statistics(nullptr);
  EXPECT_EQ(line_after(14, &statistics, {}),
            std::string("25.0 fps") + kDot + "8.0 ms" + kDot + "no objects");
}

TEST(StatisticsLine, IsTheSameInEveryLanguage) {
  const npu::test::ForeignLanguage german("de_DE");
  if (!german.is_usable()) {
    GTEST_SKIP() << "localedef cannot make de_DE here";
  }
  Statistics statistics(nullptr);
  EXPECT_EQ(line_after(14, &statistics, {}),
            std::string("25.0 fps") + kDot + "8.0 ms" + kDot + "no objects");
}

TEST(StatisticsLine, CountsTheMostFrequentClassesFirst) {
  Statistics statistics(nullptr);
  EXPECT_EQ(
      line_after(1, &statistics, objects({"dog", "car", "bus", "car", "", "cat", "bus", "car"})),
      "3 car, 2 bus, 1 ?, 1 cat, 1 more classes");
}

TEST(StatisticsLine, StandsForHalfASecond) {
  Statistics statistics(nullptr);
  const std::string first = line_after(1, &statistics, objects({"car"}));
  statistics.count(kFrame_us, 0, objects({"dog", "cat"}));
  EXPECT_EQ(statistics.line(), first);
}

TEST(StatisticsLine, TellsHowBusyTheNpuIs) {
  BusyTime time{500, 1000};
  Statistics statistics([&time] { return time; });
  statistics.count(0, 0, {});
  time = {800, 2000};
  statistics.count(500000, 0, {});
  EXPECT_EQ(statistics.line(), std::string("2.0 fps") + kDot + "NPU 30%" + kDot + "no objects");
}

TEST(StatisticsLine, TellsNoneWhereTheInferenceHasBegunAnew) {
  BusyTime time{500, 1000};
  Statistics statistics([&time] { return time; });
  statistics.count(0, 0, {});
  time = {10, 20};
  statistics.count(500000, 0, {});
  EXPECT_EQ(statistics.line(), std::string("2.0 fps") + kDot + "no objects");
}

}  // namespace
}  // namespace gstnpu
