#pragma once

#include <gst/gst.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "frames/copy_cause.hpp"
#include "graphs/timed_request.hpp"

namespace gstnpu {

/// How many durations lay between bounds.
struct Histogram {
  /// Each bucket ends with its bound; the last has all longer durations.
  static constexpr std::array<guint64, 12> kBoundsNs = {
      1'000'000,   2'500'000,   5'000'000,   10'000'000,    25'000'000,    50'000'000,
      100'000'000, 250'000'000, 500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000};
  std::array<guint64, kBoundsNs.size() + 1> counts = {};
  guint64 sum_ns = 0;
  void add(guint64 ns);
};

/// Fields of the property "stats" (docs/elements.md). Times are in nanoseconds.
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

  // Counted per stream:
  Count frames, offered, imported, copied;
  std::vector<Reason> reasons;  ///< each cause once, the first one first
  guint64 imports = 0, import_evictions = 0;
  guint64 inferred = 0, inference_ns = 0, inference_ns_mean = 0, inference_ns_last = 0;
  guint64 device_ns = 0, queue_ns = 0, downstream_ns = 0;
  guint64 latency_ns_p50 = 0, latency_ns_p95 = 0, latency_ns_p99 = 0;
  Histogram latencies, queueing;
  guint64 busy_ns = 0, wall_ns = 0;  ///< both from the first submit to the last fence
  guint64 dropped = 0, late = 0;     ///< frames that did not go out
  guint64 interlaced = 0;            ///< frames of two fields that were inferred as one picture
  guint64 lost = 0, gap = 0, skipped = 0;  ///< frames that went out without tensors
  guint64 no_objects = 0;                  ///< likewise
  guint64 regions = 0;                     ///< objects that were inferred
  guint64 regions_refused = 0;             ///< objects that are empty, outside, or too many
  // Known once the model is open:
  guint64 compile_ns = 0;
  std::string device, offered_memory;
};

/// The caller frees it.
GstStructure* to_structure(const StatsReport& report);

/// The last `most` durations.
class RecentTimes {
 public:
  explicit RecentTimes(std::size_t most) : most_(most) {}
  void add(guint64 ns);
  std::size_t size() const { return times_ns_.size(); }
  /// The slowest time after leaving out the `left_out` slowest, which must be fewer than size(); 0
  /// when empty.
  guint64 slowest_but(std::size_t left_out) const;
  /// The time that `percent` of 100 did not exceed; 0 when empty.
  guint64 percentile_ns(guint percent) const;
  guint64 median_ns() const { return percentile_ns(50); }

 private:
  const std::size_t most_;
  std::vector<guint64> times_ns_;  // a ring
  std::size_t next_ = 0;
  mutable std::vector<guint64> sorted_;  // kept to reuse its memory
};

/// Counts what one stream does. Thread-safe.
class Stats {
 public:
  /// Bytes, here and below, are those of a frame's visible pixels.
  void count_frame(gsize bytes);
  void count(guint64 StatsReport::*frames, guint64 how_many = 1);
  /// Counts a frame that the NPU reads in place.
  void count_zero_copy(InputPath path, gsize bytes);
  /// True the first time this cause is counted; `text` explains it to the user.
  bool count_copy(CopyCause cause, gsize bytes, const std::string& text);
  /// Call in the order in which inferences end. `waited_ns`: the wait for a turn before the
  /// submission.
  void count_inference(const InferenceTime& time, guint64 waited_ns);
  /// Counts the time from a frame's arrival until it was ready to go out with its result.
  void count_latency(guint64 ns);
  /// Counts how long a push downstream took.
  void count_push(guint64 ns);
  guint64 counted(guint64 StatsReport::*frames) const;
  StatsReport report() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  StatsReport counted_;
  guint64 inferences_ = 0, inference_ns_sum_ = 0;
  guint64 first_submitted_ns_ = 0;
  static constexpr std::size_t kRecent = 256;
  RecentTimes inference_{kRecent}, device_{kRecent}, queued_{kRecent}, pushes_{kRecent};
  RecentTimes latencies_{1024};  // enough that one percent is several
};

/// The latency that a stream reports: the time of its recent inferences without the slowest. Rises
/// at once and falls slowly, so that sinks are seldom told anew.
class LatencyEstimate {
 public:
  /// Sets a latency before anything was measured. True when the reported latency changed.
  bool assume(guint64 ns);
  /// True when the reported latency changed.
  bool observe(guint64 inference_ns);
  guint64 reported_ns() const;

 private:
  static constexpr std::size_t kWindow = 128;  // recent inferences that count

  mutable std::mutex mutex_;  // guards all below
  guint64 reported_ns_ = 0;
  guint64 seen_ = 0;
  guint64 changed_at_ = 0;  // value of seen_ at the last change
  RecentTimes recent_{kWindow};
};

}  // namespace gstnpu
