#include "drop_policy.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

// One inference runs and one waits, so that the device never pauses between two.
constexpr guint kBusyWith = 2;

// Video sinks accept frames that are this late.
constexpr GstClockTime kTolerance = 20 * GST_MSECOND;

}  // namespace

DropPolicy::Verdict DropPolicy::judge(Drop drop, const Arrival& arrival) const {
  switch (drop) {
    case Drop::kNone:
      break;
    case Drop::kBusy:
      if (arrival.can_wait) break;
      if (!arrival.has_room || backlog_->unfinished() >= kBusyWith) return Verdict::kBusy;
      break;
    case Drop::kLate:
      if (is_late(arrival)) return Verdict::kLate;
      break;
  }
  return Verdict::kInfer;
}

bool DropPolicy::is_late(const Arrival& arrival) const {
  if (!GST_CLOCK_TIME_IS_VALID(arrival.frame)) return false;
  const std::scoped_lock lock(mutex_);
  if (GST_CLOCK_TIME_IS_VALID(earliest_) && arrival.frame < earliest_) return true;
  if (!GST_CLOCK_TIME_IS_VALID(arrival.now) || !GST_CLOCK_TIME_IS_VALID(latency_)) return false;
  const GstClockTime done = arrival.now + backlog_->expected_ns(now_ns());
  // The pipeline's latency may be older than the links of sources such as rtspsrc, which add pads
  // late.
  const auto frame = static_cast<GstClockTimeDiff>(arrival.frame);
  const auto told = static_cast<GstClockTimeDiff>(std::max(latency_, least_latency_));
  const auto latest =
      frame + std::max(told + arrival.offset, static_cast<GstClockTimeDiff>(seen_latency_));
  return static_cast<GstClockTimeDiff>(done) > latest + static_cast<GstClockTimeDiff>(kTolerance);
}

/// The device's own time plus the wait for the inference before it. No frame waits longer than a
/// frame duration: by then the next frame takes its place.
GstClockTime DropPolicy::longest(Drop drop, GstClockTime frame_duration) const {
  if (drop != Drop::kLate || frame_duration == 0) return GST_CLOCK_TIME_NONE;
  const GstClockTime device = backlog_->device_ns();
  return device + std::min(device, frame_duration);
}

void DropPolicy::note_qos(GstEvent* qos, GstClockTime now) {
  GstClockTimeDiff late = 0;
  GstClockTime timestamp = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(qos, nullptr, nullptr, &late, &timestamp);
  if (!GST_CLOCK_TIME_IS_VALID(timestamp)) return;
  const std::scoped_lock lock(mutex_);
  earliest_ = timestamp + static_cast<GstClockTime>(late);  // a negative delay never reaches back
                                                            // before 0
  // The report comes once the sink has shown the frame, or at once where it was late.
  const GstClockTime wanted = timestamp + static_cast<GstClockTime>(std::max<gint64>(late, 0));
  seen_latency_ = GST_CLOCK_TIME_IS_VALID(now) && now > wanted ? now - wanted : 0;
}

void DropPolicy::note_latency(GstClockTime latency) {
  const std::scoped_lock lock(mutex_);
  latency_ = latency;
}

void DropPolicy::note_least_latency(GstClockTime least) {
  const std::scoped_lock lock(mutex_);
  least_latency_ = least;
}

void DropPolicy::forget() {
  const std::scoped_lock lock(mutex_);
  earliest_ = GST_CLOCK_TIME_NONE;
  seen_latency_ = 0;
}

}  // namespace gstnpu
