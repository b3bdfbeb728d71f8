#include "inference/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gstnpu {
namespace {

guint64 number(const Stats& stats, const char* field) {
  GstStructure* structure = to_structure(stats.report());
  guint64 value = G_MAXUINT64;
  gst_structure_get_uint64(structure, field, &value);
  gst_structure_free(structure);
  return value;
}

std::string text(const Stats& stats, const char* field) {
  GstStructure* structure = to_structure(stats.report());
  const gchar* found = gst_structure_get_string(structure, field);
  const std::string copy = found ? found : "";
  gst_structure_free(structure);
  return copy;
}

InferenceTime inference(guint64 ns, guint64 device_ns) {
  return {.submitted_ns = 100, .done_ns = 100 + ns, .device_ns = device_ns};
}

TEST(StatsTest, TellsApartHowFramesWereRead) {
  Stats stats;
  stats.count_zero_copy(InputPath::kOffered, 10);
  stats.count_zero_copy(InputPath::kImported, 200);
  stats.count_zero_copy(InputPath::kImported, 300);
  stats.count_copy(CopyCause::kStride, 7000, "why");
  EXPECT_EQ(number(stats, "zero-copy"), 3u);
  EXPECT_EQ(number(stats, "offered"), 1u);
  EXPECT_EQ(number(stats, "imported"), 2u);
  EXPECT_EQ(number(stats, "copied"), 1u);
}

TEST(StatsTest, CountsTheBytesOfEveryWay) {
  Stats stats;
  stats.count_frame(7510);
  stats.count_zero_copy(InputPath::kOffered, 10);
  stats.count_zero_copy(InputPath::kImported, 200);
  stats.count_zero_copy(InputPath::kImported, 300);
  stats.count_copy(CopyCause::kStride, 7000, "why");
  EXPECT_EQ(number(stats, "frames-bytes"), 7510u);
  EXPECT_EQ(number(stats, "zero-copy-bytes"), 510u);
  EXPECT_EQ(number(stats, "offered-bytes"), 10u);
  EXPECT_EQ(number(stats, "imported-bytes"), 500u);
  EXPECT_EQ(number(stats, "copied-bytes"), 7000u);
}

std::vector<guint64> numbers(const Stats& stats, const char* field) {
  GstStructure* structure = to_structure(stats.report());
  const GValue* const list = gst_structure_get_value(structure, field);
  std::vector<guint64> found;
  for (guint i = 0; i < gst_value_array_get_size(list); ++i)
    found.push_back(g_value_get_uint64(gst_value_array_get_value(list, i)));
  gst_structure_free(structure);
  return found;
}

TEST(StatsTest, CountsTimesByTheirBounds) {
  Stats stats;
  for (const guint64 ms : {1, 2, 3, 4, 60000}) stats.count_latency(ms * GST_MSECOND);
  stats.count_inference(inference(9 * GST_MSECOND, 7 * GST_MSECOND), 20 * GST_MSECOND);
  EXPECT_EQ(numbers(stats, "histogram-bounds").size(), 12u);
  EXPECT_EQ(numbers(stats, "histogram-bounds").at(1), 2500 * GST_USECOND);
  EXPECT_EQ(numbers(stats, "latency-histogram"),
            (std::vector<guint64>{1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(number(stats, "latency-sum"), 60010 * GST_MSECOND);
  EXPECT_EQ(numbers(stats, "queue-histogram").at(4), 1u);
  EXPECT_EQ(number(stats, "queue-sum"), 22 * GST_MSECOND);
}

TEST(StatsTest, CountsTheCopiesOfEachReason) {
  Stats stats;
  stats.count_copy(CopyCause::kStride, 5, "upside down");
  stats.count_copy(CopyCause::kOrdinaryMemory, 30, "ordinary");
  stats.count_copy(CopyCause::kOrdinaryMemory, 30, "ordinary");
  EXPECT_EQ(number(stats, "copied-stride"), 1u);
  EXPECT_EQ(number(stats, "copied-stride-bytes"), 5u);
  EXPECT_EQ(number(stats, "copied-ordinary-memory"), 2u);
  EXPECT_EQ(number(stats, "copied-ordinary-memory-bytes"), 60u);
  EXPECT_EQ(text(stats, "copy-reasons"), "1 frame: upside down; 2 frames: ordinary");
}

TEST(StatsTest, StartsFromNothing) {
  Stats stats;
  for (const char* field : {"frames", "frames-bytes", "zero-copy", "zero-copy-bytes", "copied",
                            "copied-bytes", "offered", "imported", "imports", "inferred"}) {
    EXPECT_EQ(number(stats, field), 0u) << field;
  }
  EXPECT_EQ(text(stats, "copy-reasons"), "");
}

TEST(StatsTest, GivesMedianMeanAndLast) {
  Stats stats;
  for (const guint64 ns : {10, 1000, 40}) stats.count_inference(inference(ns, ns / 2), 3);
  EXPECT_EQ(number(stats, "device-time"), 20u);
  EXPECT_EQ(number(stats, "queue-time"), 23u) << "with the wait for its turn";
  EXPECT_EQ(number(stats, "inference-time"), 40u);
  EXPECT_EQ(number(stats, "inference-time-mean"), 350u);
  EXPECT_EQ(number(stats, "inference-time-last"), 40u);
}

TEST(StatsTest, MedianFollowsTheLastInferences) {
  Stats stats;
  for (int i = 0; i < 300; ++i) stats.count_inference(inference(7, 7), 0);
  for (int i = 0; i < 256; ++i) stats.count_inference(inference(9, 8), 0);
  EXPECT_EQ(number(stats, "inference-time"), 9u);
  EXPECT_EQ(number(stats, "device-time"), 8u);
}

TEST(StatsTest, BusyAndWallTimeAreFromTheFirstSubmitToTheLastFence) {
  Stats stats;
  EXPECT_EQ(number(stats, "wall-time"), 0u);
  stats.count_inference({.submitted_ns = 1000, .done_ns = 1030, .device_ns = 30}, 0);
  stats.count_inference({.submitted_ns = 1010, .done_ns = 1050, .device_ns = 20}, 0);
  stats.count_inference({.submitted_ns = 1070, .done_ns = 1100, .device_ns = 30}, 0);
  EXPECT_EQ(number(stats, "busy-time"), 80u);
  EXPECT_EQ(number(stats, "wall-time"), 100u);
}

TEST(StatsTest, GivesPercentilesOfTheLatency) {
  Stats stats;
  EXPECT_EQ(number(stats, "latency-p99"), 0u);
  for (guint64 ns = 1; ns <= 2000; ++ns) stats.count_latency(ns);  // the last 1024: 977 to 2000
  EXPECT_EQ(number(stats, "latency-p50"), 2000u - 511);
  EXPECT_EQ(number(stats, "latency-p95"), 2000u - 51);
  EXPECT_EQ(number(stats, "latency-p99"), 2000u - 10);
}

TEST(StatsTest, TheOnlyLatencyIsEveryPercentile) {
  Stats stats;
  stats.count_latency(7);
  for (const char* field : {"latency-p50", "latency-p95", "latency-p99"}) {
    EXPECT_EQ(number(stats, field), 7u) << field;
  }
}

TEST(StatsTest, TellsACauseOnce) {
  Stats stats;
  EXPECT_TRUE(stats.count_copy(CopyCause::kOrdinaryMemory, 1, "why"));
  EXPECT_FALSE(stats.count_copy(CopyCause::kOrdinaryMemory, 1, "why"));
  EXPECT_TRUE(stats.count_copy(CopyCause::kStride, 1, "other"));
}

class CopyCauses : public testing::TestWithParam<CopyCause> {};

TEST_P(CopyCauses, HaveANameForFieldsAndASentenceForPeople) {
  const std::string name = to_string(GetParam());
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos) << name;
  EXPECT_GT(std::string(explain(GetParam())).size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(All, CopyCauses,
                         testing::Values(CopyCause::kOrdinaryMemory, CopyCause::kOtherDevice,
                                         CopyCause::kImportRefused, CopyCause::kSplitPlane,
                                         CopyCause::kShortMemory, CopyCause::kStride,
                                         CopyCause::kBlobLayout, CopyCause::kLostDevice,
                                         CopyCause::kImportWindow),
                         [](const auto& row) {
                           std::string name = to_string(row.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// How often the answer changed.
int observe(LatencyEstimate& latency, int times, guint64 ns) {
  int changes = 0;
  for (int i = 0; i < times; ++i) changes += latency.observe(ns);
  return changes;
}

TEST(Latency, GrowsAtOnceButForWarmUp) {
  LatencyEstimate latency;
  EXPECT_TRUE(latency.assume(33 * GST_MSECOND));
  EXPECT_FALSE(latency.assume(20 * GST_MSECOND));
  EXPECT_EQ(observe(latency, 2, 1000 * GST_MSECOND), 0);
  EXPECT_EQ(observe(latency, 1, 48 * GST_MSECOND), 1);
  EXPECT_EQ(latency.reported_ns(), 51 * GST_MSECOND) << "a sixteenth of headroom";
  EXPECT_EQ(observe(latency, 1, 50 * GST_MSECOND), 0) << "inside the headroom";
}

TEST(Latency, FallsToWhatIsMeasured) {
  LatencyEstimate latency;
  latency.assume(33 * GST_MSECOND);
  EXPECT_EQ(observe(latency, 16, 2 * GST_MSECOND), 1) << "soon after the start";
  EXPECT_NEAR(static_cast<double>(latency.reported_ns()), 2.0 * GST_MSECOND, 0.2 * GST_MSECOND);
}

TEST(Latency, FallsAgainAfterASlowTime) {
  LatencyEstimate latency;
  observe(latency, 200, 2 * GST_MSECOND);
  observe(latency, 200, 80 * GST_MSECOND);
  EXPECT_EQ(latency.reported_ns(), 85 * GST_MSECOND);
  EXPECT_EQ(observe(latency, 100, 2 * GST_MSECOND), 0) << "it may come again";
  EXPECT_EQ(observe(latency, 100, 2 * GST_MSECOND), 1);
  EXPECT_NEAR(static_cast<double>(latency.reported_ns()), 2.0 * GST_MSECOND, 0.2 * GST_MSECOND);
}

TEST(Latency, IsNotMadeOfOutliers) {
  LatencyEstimate latency;
  observe(latency, 200, 2 * GST_MSECOND);
  EXPECT_EQ(observe(latency, 2, 500 * GST_MSECOND), 0);
  EXPECT_EQ(observe(latency, 1, 500 * GST_MSECOND), 1);
}

TEST(Latency, SettlesThoughTimesVary) {
  LatencyEstimate latency;
  int changes = 0;
  for (guint64 i = 0; i < 3000; ++i) changes += latency.observe((20 + i * 7 % 5) * GST_MSECOND);
  EXPECT_LE(changes, 3);
}

}  // namespace
}  // namespace gstnpu
