// A line of what a stream does: frames a second, latency, utilisation, objects.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "analytics/answer_meta.hpp"

namespace gstnpu {

/// Of an inference: how long it had the NPU, of how long.
struct BusyTime {
  guint64 busy_ns = 0, wall_ns = 0;
};

/// One stream. Its numbers stand for half a second each, so that they can be read. One thread.
class Statistics {
 public:
  /// `busy_time`: asked for each time; none where nobody knows.
  explicit Statistics(std::function<std::optional<BusyTime>()> busy_time)
      : busy_time_(std::move(busy_time)) {}

  /// A frame. `now_us` never goes back; `inference_ns`: 0 where the frame was not inferred.
  void count(gint64 now_us, guint64 inference_ns, std::span<const Region> regions);
  /// Empty before the first frame.
  const std::string& line() const { return line_; }

 private:
  void measure(gint64 now_us);

  std::function<std::optional<BusyTime>()> busy_time_;
  std::optional<gint64> since_us_;  // of what is counted below
  guint frames_ = 0, inferred_ = 0;
  guint64 inference_ns_ = 0;  // of all that were inferred
  std::optional<BusyTime> busy_before_;
  std::string speed_;  // the line without its objects
  std::string line_;
};

}  // namespace gstnpu
