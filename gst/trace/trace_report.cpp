#include "trace_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gstnpu {
namespace {

constexpr double kNsPerSecond = 1e9, kNsPerMs = 1e6, kUsPerSecond = 1e6;

guint64 number(const GstStructure& stats, const char* field) {
  guint64 value = 0;
  gst_structure_get_uint64(&stats, field, &value);
  return value;
}

/// Writes a decimal point in every locale.
std::string decimal(double value, int digits) {
  std::array<char, 64> text;
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, digits).ptr;
  return {text.begin(), end};
}

std::string ms(guint64 ns) {
  return decimal(static_cast<double>(ns) / kNsPerMs, 3) + " ms";
}

std::string count(const char* name, guint64 frames) {
  return std::string(name) + " " + std::to_string(frames);
}

void set_rates(TraceReport& report) {
  if (report.seconds <= 0) return;
  report.fps = static_cast<double>(report.counted.inferred) / report.seconds;
  const double busy = static_cast<double>(report.counted.busy_ns) / kNsPerSecond;
  report.utilisation = std::min(1.0, busy / report.seconds);
}

/// A stream that begins again counts from 0.
void subtract(guint64& now, guint64 before) {
  now -= std::min(now, before);
}

}  // namespace

TraceSample sample_of(const GstStructure& stats, gint64 now_us) {
  const gchar* device = gst_structure_get_string(&stats, "device");
  return {.at_us = now_us,
          .frames = number(stats, "frames"),
          .inferred = number(stats, "inferred"),
          .in_place = number(stats, "zero-copy"),
          .copied = number(stats, "copied"),
          .dropped = number(stats, "dropped"),
          .late = number(stats, "late"),
          .lost = number(stats, "lost"),
          .gap = number(stats, "gap"),
          .skipped = number(stats, "skipped"),
          .no_objects = number(stats, "no-objects"),
          .device_ns = number(stats, "device-time"),
          .queue_ns = number(stats, "queue-time"),
          .p50_ns = number(stats, "latency-p50"),
          .p95_ns = number(stats, "latency-p95"),
          .p99_ns = number(stats, "latency-p99"),
          .busy_ns = number(stats, "busy-time"),
          .wall_ns = number(stats, "wall-time"),
          .device = device ? device : ""};
}

TraceReport report_of(const TraceSample& stream) {
  TraceReport report{.counted = stream,
                     .seconds = static_cast<double>(stream.wall_ns) / kNsPerSecond};
  set_rates(report);
  return report;
}

TraceReport report_of(const TraceSample& now, const TraceSample& before) {
  TraceReport report{.counted = now,
                     .seconds = static_cast<double>(now.at_us - before.at_us) / kUsPerSecond};
  for (guint64 TraceSample::*field :
       {&TraceSample::frames, &TraceSample::inferred, &TraceSample::in_place, &TraceSample::copied,
        &TraceSample::dropped, &TraceSample::late, &TraceSample::lost, &TraceSample::gap,
        &TraceSample::skipped, &TraceSample::no_objects, &TraceSample::busy_ns,
        &TraceSample::wall_ns}) {
    subtract(report.counted.*field, before.*field);
  }
  set_rates(report);
  return report;
}

std::string to_text(const TraceReport& report, const std::string& who) {
  const TraceSample& of = report.counted;
  std::string text = "npu: " + who + ": " + std::to_string(of.frames) + " frames in, " +
                     std::to_string(of.inferred) + " inferred in " + decimal(report.seconds, 3) +
                     " s: " + decimal(report.fps, 1) + " fps on " +
                     (of.device.empty() ? "no device" : of.device) + "\n";
  if (of.frames == 0) return text;
  text += "npu:   device time " + ms(of.device_ns) + ", queueing " + ms(of.queue_ns) +
          ", device utilisation " + decimal(report.utilisation * 100, 1) + " %\n";
  text += "npu:   latency p50 " + ms(of.p50_ns) + ", p95 " + ms(of.p95_ns) + ", p99 " +
          ms(of.p99_ns) + "\n";
  text += "npu:   " + count("copies: frames zero-copy", of.in_place) + ", " +
          count("copied", of.copied) + "\n";
  text += "npu:   drops: " + count("busy", of.dropped) + ", " + count("late", of.late) +
          "; without tensors: " + count("lost", of.lost) + ", " + count("gap", of.gap) + ", " +
          count("skipped", of.skipped) + ", " + count("no objects", of.no_objects) + "\n";
  return text;
}

}  // namespace gstnpu
