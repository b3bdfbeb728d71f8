#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "graphs/settings.hpp"
#include "graphs/timed_request.hpp"

namespace gstnpu {

/// Decides which frames to drop: because the device is busy, or because their results would come
/// too late. Thread-safe.
class DropPolicy {
 public:
  enum class Verdict { kInfer, kBusy, kLate };

  /// A frame, and when it came. Running times; GST_CLOCK_TIME_NONE: unknown.
  struct Arrival {
    GstClockTime frame = GST_CLOCK_TIME_NONE;
    GstClockTime now = GST_CLOCK_TIME_NONE;
    GstClockTimeDiff offset = 0;  ///< by which downstream shows frames later, besides the latency
    bool has_room = true;         ///< in the fifo
    bool can_wait = false;        ///< upstream is no live source
  };

  explicit DropPolicy(std::shared_ptr<const Backlog> backlog) : backlog_(std::move(backlog)) {}

  Verdict judge(Drop drop, const Arrival& arrival) const;
  /// The longest time that a frame which is not dropped spends on the device, waiting included;
  /// GST_CLOCK_TIME_NONE where nothing limits it.
  GstClockTime longest(Drop drop, GstClockTime frame_duration) const;

  /// Takes the delay that a sink reports at the running time `now`. It also shows when the sink
  /// wants frames, where others have told it an offset.
  void note_qos(GstEvent* qos, GstClockTime now);
  void note_latency(GstClockTime latency);
  /// Takes the time that a live source's frames need at least to reach this element and pass the
  /// device.
  void note_least_latency(GstClockTime least);
  /// Forgets the sink's reports after a flush: they are about frames that are gone.
  void forget();

 private:
  bool is_late(const Arrival& arrival) const;

  const std::shared_ptr<const Backlog> backlog_;
  mutable std::mutex mutex_;                     // guards all below
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;  // running time from which downstream is in time
  GstClockTime latency_ = GST_CLOCK_TIME_NONE;   // pipeline's
  GstClockTime least_latency_ = 0;
  GstClockTime seen_latency_ = 0;  // by the sink's reports
};

}  // namespace gstnpu
