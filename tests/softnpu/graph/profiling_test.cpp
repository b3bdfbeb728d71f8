#include "graph/profiling.hpp"

#include <gtest/gtest.h>

namespace softnpu {
namespace {

ov::ProfilingInfo layer(ov::ProfilingInfo::Status status, int microseconds) {
  ov::ProfilingInfo info;
  info.status = status;
  info.real_time = std::chrono::microseconds(microseconds);
  return info;
}

// OpenVINO measures in microseconds, the interface tells nanoseconds.
TEST(ProfilingData, TellsWhenEachLayerBeganAndHowLongItTook) {
  using Status = ov::ProfilingInfo::Status;
  ProfilingData data;
  data.store({layer(Status::EXECUTED, 7), layer(Status::OPTIMIZED_OUT, 0),
              layer(Status::EXECUTED, 2'500'000)});
  const auto layers = data.layers();
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].start_time_ns, 0u);
  EXPECT_EQ(layers[0].duration_ns, 7'000u);
  EXPECT_EQ(layers[2].start_time_ns, 7'000u);
  EXPECT_EQ(layers[2].duration_ns, 2'500'000'000u);
  EXPECT_EQ(layers[2].sw_ns, 2'500'000'000u);
  const auto tasks = data.tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[1].start_time_ns, 7'000u);
  EXPECT_EQ(tasks[1].duration_ns, 2'500'000'000u);
  EXPECT_EQ(tasks[1].parent_layer_id, 2u);
}

}  // namespace
}  // namespace softnpu
