#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "graphs/settings.hpp"
#include "graphs/timed_request.hpp"

namespace gstnpu {

/// Tells which frames are not worth an inference, because the device is busy or because their time
/// would be over. From any thread.
class DropPolicy {
 public:
  enum class Verdict { kInfer, kBusy, kLate };

  /// A frame, and when it came. Running times; GST_CLOCK_TIME_NONE: unknown.
  struct Arrival {
    GstClockTime frame = GST_CLOCK_TIME_NONE;
    GstClockTime now = GST_CLOCK_TIME_NONE;
    bool has_room = true;   ///< in the fifo
    bool can_wait = false;  ///< upstream is no live source
  };

  explicit DropPolicy(std::shared_ptr<const Backlog> backlog) : backlog_(std::move(backlog)) {}

  Verdict judge(Drop drop, const Arrival& arrival) const;
  /// The most that inferences of frames that are judged may take, as far as it is known.
  GstClockTime longest(Drop drop, GstClockTime frame_duration) const;

  /// Of downstream's events.
  void note_qos(GstEvent* qos);
  void note_latency(GstClockTime latency);
  /// What frames of a live source need at least, to come here and through the device.
  void note_least_latency(GstClockTime least);
  /// A flush: what downstream said is of frames that are gone.
  void forget();

 private:
  bool is_late(const Arrival& arrival) const;

  const std::shared_ptr<const Backlog> backlog_;
  mutable std::mutex mutex_;                     // guards all below
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;  // running time from which downstream is in time
  GstClockTime latency_ = GST_CLOCK_TIME_NONE;   // of the pipeline
  GstClockTime least_latency_ = 0;
};

}  // namespace gstnpu
