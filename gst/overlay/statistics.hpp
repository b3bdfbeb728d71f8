// A line of statistics: frames a second, latency, utilisation, objects.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "answers/frame_answer.hpp"

namespace gstnpu {

/// Time that an inference used the NPU, and the time since its first submission.
struct BusyTime {
  guint64 busy_ns = 0, wall_ns = 0;
};

/// Statistics of one stream. Numbers change every half second, so that they can be read.
/// Single-threaded.
class Statistics {
 public:
  /// `busy_time`: asked with each new set of numbers; nullopt where it is not known.
  explicit Statistics(std::function<std::optional<BusyTime>()> busy_time)
      : busy_time_(std::move(busy_time)) {}

  /// Counts a frame. `now_us` never goes back; `inference_ns` is 0 where the frame was not
  /// inferred.
  void count(gint64 now_us, guint64 inference_ns, std::span<const FoundObject> regions);
  /// Empty before the first frame.
  const std::string& line() const { return line_; }

 private:
  void measure(gint64 now_us);

  std::function<std::optional<BusyTime>()> busy_time_;
  std::optional<gint64> since_us_;  // start of the current half second
  guint frames_ = 0, inferred_ = 0;
  guint64 inference_ns_ = 0;  // sum over inferred frames
  std::optional<BusyTime> busy_before_;
  std::string speed_;  // the line without its objects
  std::string line_;
};

}  // namespace gstnpu
