#include "trace/trace_report.hpp"

#include <gtest/gtest.h>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

TraceSample a_stream() {
  return {.at_us = 10'000'000,
          .frames = 308,
          .inferred = 300,
          .in_place = 200,
          .copied = 100,
          .dropped = 1,
          .late = 2,
          .lost = 1,
          .gap = 1,
          .skipped = 1,
          .no_objects = 2,
          .device_ns = 12 * GST_MSECOND,
          .queue_ns = GST_MSECOND / 2,
          .p50_ns = 13 * GST_MSECOND,
          .p95_ns = 15 * GST_MSECOND,
          .p99_ns = 21 * GST_MSECOND,
          .busy_ns = 3600 * GST_MSECOND,
          .wall_ns = 10'000 * GST_MSECOND,
          .device = "an NPU"};
}

TEST(TraceReport, OfAStreamIsOfItsOwnTime) {
  EXPECT_EQ(
      to_text(report_of(a_stream()), "infer0, stream 1, end"),
      "npu: infer0, stream 1, end: 308 frames in, 300 inferred in 10.000 s: 30.0 fps on an "
      "NPU\n"
      "npu:   device time 12.000 ms, queueing 0.500 ms, device utilisation 36.0 %\n"
      "npu:   latency p50 13.000 ms, p95 15.000 ms, p99 21.000 ms\n"
      "npu:   copies: frames zero-copy 200, copied 100\n"
      "npu:   drops: busy 1, late 2; without tensors: lost 1, gap 1, skipped 1, no objects 2\n");
}

TEST(TraceReport, OfAnIntervalIsOfWhatCameSince) {
  TraceSample before = a_stream(), now = a_stream();
  now.at_us += 2'000'000;
  now.frames += 25;
  now.inferred += 20;
  now.late += 5;
  now.busy_ns += 500 * GST_MSECOND;
  const TraceReport report = report_of(now, before);
  EXPECT_EQ(report.counted.frames, 25u);
  EXPECT_EQ(report.counted.late, 5u);
  EXPECT_EQ(report.counted.copied, 0u);
  EXPECT_DOUBLE_EQ(report.fps, 10);
  EXPECT_DOUBLE_EQ(report.utilisation, 0.25);
  EXPECT_EQ(report.counted.p99_ns, 21 * GST_MSECOND) << "times are of the last ones";
}

TEST(TraceReport, WithoutTimeHasNoRates) {
  EXPECT_DOUBLE_EQ(report_of(TraceSample{}).fps, 0);
  EXPECT_DOUBLE_EQ(report_of(a_stream(), a_stream()).utilisation, 0);
  EXPECT_EQ(
      to_text(report_of(TraceSample{}), "infer0, stream 1, end"),
      "npu: infer0, stream 1, end: 0 frames in, 0 inferred in 0.000 s: 0.0 fps on no device\n");
}

TEST(TraceReport, OfAStreamThatBeganAnewIsNeverBelowNothing) {
  const TraceReport report = report_of({.at_us = 20'000'000, .frames = 3}, a_stream());
  EXPECT_EQ(report.counted.frames, 0u);
  EXPECT_EQ(report.counted.inferred, 0u);
}

TEST(TraceSample, TakesTheFieldsOfStats) {
  const StructureRef stats(gst_structure_new(
      "npu-stats", "frames", G_TYPE_UINT64, guint64{7}, "zero-copy", G_TYPE_UINT64, guint64{5},
      "latency-p95", G_TYPE_UINT64, guint64{9}, "device", G_TYPE_STRING, "an NPU", nullptr));
  const TraceSample sample = sample_of(*stats, 42);
  EXPECT_EQ(sample.at_us, 42);
  EXPECT_EQ(sample.frames, 7u);
  EXPECT_EQ(sample.in_place, 5u);
  EXPECT_EQ(sample.p95_ns, 9u);
  EXPECT_EQ(sample.copied, 0u) << "a field that is not there";
  EXPECT_EQ(sample.device, "an NPU");
}

}  // namespace
}  // namespace gstnpu
