#pragma once

#include <gst/gst.h>

#include <string>

namespace gstnpu {

/// What a report is made of: fields of an element's property "stats" (docs/elements.md).
struct TraceSample {
  gint64 at_us = 0;  ///< g_get_monotonic_time()
  guint64 frames = 0, inferred = 0, in_place = 0, copied = 0;
  guint64 dropped = 0, late = 0, lost = 0, gap = 0, skipped = 0, no_objects = 0;
  guint64 device_ns = 0, queue_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0;
  guint64 busy_ns = 0, wall_ns = 0;
  std::string device;
};

TraceSample sample_of(const GstStructure& stats, gint64 now_us);

/// One report: counts and rates of a time, and times of its last inferences.
struct TraceReport {
  TraceSample counted;     ///< differences, where it is of an interval
  double seconds = 0;      ///< that the rates are of
  double fps = 0;          ///< inferences a second
  double utilisation = 0;  ///< 0 to 1: the part of the time in which the element kept the device
};

/// Of a whole stream: the rates are of the time from its first submit to its last fence.
TraceReport report_of(const TraceSample& stream);
/// Of what came after `before`, by the clock.
TraceReport report_of(const TraceSample& now, const TraceSample& before);

/// Several lines for people, each begins with "npu: ". `who`: element and stream.
std::string to_text(const TraceReport& report, const std::string& who);

}  // namespace gstnpu
