#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>
#include <vector>

#include "frames/copy_cause.hpp"

namespace gstnpu {

/// What the property "stats" tells: docs/elements.md has its fields. Times in nanoseconds.
struct StatsReport {
  struct Count {
    guint64 frames = 0, bytes = 0;
    void add(gsize frame_bytes);
  };
  struct Reason {
    CopyCause cause;
    std::string text;
    Count count;
  };

  // Of a stream.
  Count frames, offered, imported, copied;
  std::vector<Reason> reasons;  ///< each cause once, the first one first
  guint64 imports = 0, import_evictions = 0;
  guint64 inferred = 0, inference_ns = 0, inference_ns_mean = 0, inference_ns_last = 0;
  // Of what was opened.
  guint64 compile_ns = 0;
  std::string device, offered_memory;
};

/// The caller frees it.
GstStructure* to_structure(const StatsReport& report);

/// Counts what one stream does. From any thread.
class Stats {
 public:
  /// Bytes are those of a frame's visible pixels, here and below.
  void count_frame(gsize bytes);
  /// A frame that the NPU reads in place.
  void count_zero_copy(InputPath path, gsize bytes);
  /// True the first time that there is this cause; `text` tells it to the user.
  bool count_copy(CopyCause cause, gsize bytes, const std::string& text);
  void count_inference(guint64 ns);
  StatsReport report() const;

 private:
  guint64 median_ns() const;

  mutable std::mutex mutex_;  // guards all below
  StatsReport counted_;
  guint64 inference_ns_sum_ = 0;
  std::vector<guint64> recent_ns_;  // the last ones, as a ring
};

/// The latency that a stream reports: no less than the slowest inference after the first few.
class LatencyEstimate {
 public:
  /// What is assumed before anything was measured.
  void assume(guint64 ns);
  /// True when the reported latency grew.
  bool observe(guint64 inference_ns);
  guint64 reported_ns() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  guint64 reported_ns_ = 0;
  guint seen_ = 0;
};

}  // namespace gstnpu
