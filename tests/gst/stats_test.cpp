#include "plugin/stats.hpp"

#include <gtest/gtest.h>

namespace gstnpu {
namespace {

guint64 number(const Stats& stats, const char* field) {
  GstStructure* structure = stats.to_structure();
  guint64 value = G_MAXUINT64;
  gst_structure_get_uint64(structure, field, &value);
  gst_structure_free(structure);
  return value;
}

TEST(StatsTest, TellsApartHowFramesWereRead) {
  Stats stats;
  stats.count_input(InputPath::kOwnMemory, 0);
  stats.count_input(InputPath::kImported, 0);
  stats.count_input(InputPath::kCopied, 700);
  EXPECT_EQ(number(stats, "zero-copy"), 2u);
  EXPECT_EQ(number(stats, "imported"), 1u);
  EXPECT_EQ(number(stats, "copied"), 1u);
  EXPECT_EQ(number(stats, "copied-bytes"), 700u);
}

TEST(StatsTest, GivesMedianMeanAndLast) {
  Stats stats;
  for (const guint64 ns : {10, 1000, 40}) stats.count_inference(ns);
  EXPECT_EQ(number(stats, "inference-time"), 40u);
  EXPECT_EQ(number(stats, "inference-time-mean"), 350u);
  EXPECT_EQ(number(stats, "inference-time-last"), 40u);
}

TEST(StatsTest, MedianFollowsTheLastInferences) {
  Stats stats;
  for (int i = 0; i < 300; ++i) stats.count_inference(7);
  for (int i = 0; i < 256; ++i) stats.count_inference(9);
  EXPECT_EQ(number(stats, "inference-time"), 9u);
}

TEST(StatsTest, TellsACauseOnce) {
  Stats stats;
  EXPECT_TRUE(stats.count_copy(CopyCause::kOrdinaryMemory, "why"));
  EXPECT_FALSE(stats.count_copy(CopyCause::kOrdinaryMemory, "why"));
  EXPECT_TRUE(stats.count_copy(CopyCause::kStride, "other"));
}

TEST(Latency, GrowsWithSlowInferencesOnlyAfterWarmUp) {
  LatencyEstimate latency;
  latency.assume(100);
  EXPECT_FALSE(latency.observe(1000));
  EXPECT_FALSE(latency.observe(1000));
  EXPECT_FALSE(latency.observe(90));
  EXPECT_EQ(latency.reported_ns(), 100u);
  EXPECT_TRUE(latency.observe(200));
  EXPECT_EQ(latency.reported_ns(), 250u);
  EXPECT_FALSE(latency.observe(240)) << "inside the headroom";
}

}  // namespace
}  // namespace gstnpu
