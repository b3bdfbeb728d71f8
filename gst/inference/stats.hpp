#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>
#include <vector>

#include "plugin/copy_cause.hpp"

namespace gstnpu {

/// What an element has done since it left READY. From any thread.
class Stats {
 public:
  void reset();
  /// Bytes are those of a frame's visible pixels, here and below.
  void count_frame(gsize bytes);
  /// A frame that the NPU reads in place.
  void count_zero_copy(InputPath path, gsize bytes);
  /// True the first time that there is this cause; `text` tells it to the user.
  bool count_copy(CopyCause cause, gsize bytes, const std::string& text);
  void count_inference(guint64 ns);
  void set_compile_ns(guint64 ns);
  void set_imports(guint64 imports, guint64 evictions);
  void set_device(const std::string& device);
  void set_offered_memory(const std::string& source);

  /// The property "stats": docs/elements.md has its fields. Times in nanoseconds. The caller frees
  /// it.
  GstStructure* to_structure() const;

 private:
  struct Count {
    guint64 frames = 0, bytes = 0;
    void add(gsize frame_bytes);
  };
  struct Reason {
    CopyCause cause;
    std::string text;
    Count count;
  };

  guint64 median_ns() const;
  void add_reasons(GstStructure* structure) const;

  mutable std::mutex mutex_;  // guards all below
  Count frames_, offered_, imported_, copied_;
  guint64 imports_ = 0, evictions_ = 0, inferred_ = 0, compile_ns_ = 0;
  guint64 inference_ns_sum_ = 0, inference_ns_last_ = 0;
  std::vector<guint64> recent_ns_;  // the last ones, as a ring
  std::vector<Reason> reasons_;     // each cause once, the first one first
  std::string device_;
  std::string offered_memory_;
};

/// The latency that an element reports: no less than the slowest inference after the first few.
class LatencyEstimate {
 public:
  void reset();
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
