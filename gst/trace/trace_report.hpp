#pragma once

#include <gst/gst.h>

#include <string>

namespace gstnpu {

/// Fields of an element's property "stats" (docs/elements.md).
struct TraceSample {
  gint64 at_us = 0;  ///< g_get_monotonic_time()
  guint64 frames = 0, inferred = 0, in_place = 0, copied = 0;
  guint64 dropped = 0, late = 0, lost = 0, gap = 0, skipped = 0, no_objects = 0;
  guint64 device_ns = 0, queue_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0;
  guint64 busy_ns = 0, wall_ns = 0;
  std::string device;
};

TraceSample sample_of(const GstStructure& stats, gint64 now_us);

/// One report: counts and rates of a period, and times of its last inferences.
struct TraceReport {
  TraceSample counted;     ///< differences, if it covers an interval
  double seconds = 0;      ///< length of the period
  double fps = 0;          ///< inferences a second
  double utilisation = 0;  ///< 0 to 1: the part of the time in which the element kept the device
};

/// Reports a whole stream, from its first submit to its last fence.
TraceReport report_of(const TraceSample& stream);
/// Reports the time since `before` was taken.
TraceReport report_of(const TraceSample& now, const TraceSample& before);

/// Several lines for people; each begins with "npu: ". `who`: element and stream.
std::string to_text(const TraceReport& report, const std::string& who);

}  // namespace gstnpu
