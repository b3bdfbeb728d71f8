#pragma once

#include <gst/gst.h>

#include <array>
#include <bitset>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/plane_memory.hpp"

namespace gstnpu {

/// What an element has done since it left READY. From any thread.
class Stats {
 public:
  void reset();
  void count_frame();
  void count_input(InputPath path, gsize bytes);
  /// True the first time that `cause` is told.
  bool count_copy(CopyCause cause, const std::string& text);
  void count_inference(guint64 ns);
  void set_compile_ns(guint64 ns);
  void set_imports(guint64 imports);
  void set_device(const std::string& device);

  /// The property "stats". Times in nanoseconds. The caller frees it.
  GstStructure* to_structure() const;

 private:
  guint64 median_ns() const;

  mutable std::mutex mutex_;  // guards all below
  guint64 frames_ = 0, own_ = 0, imported_ = 0, copied_ = 0, copied_bytes_ = 0;
  guint64 imports_ = 0, inferred_ = 0, compile_ns_ = 0;
  guint64 inference_ns_sum_ = 0, inference_ns_last_ = 0;
  std::vector<guint64> recent_ns_;  // the last ones, as a ring
  std::bitset<kNumCopyCauses> told_;
  std::vector<std::string> reasons_;
  std::string device_;
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
