#pragma once

#include <gst/gst.h>

#include <atomic>

#include "graphs/settings.hpp"

namespace gstnpu {

/// Posts the element messages "npu-stats" that the property stats-interval asks for. Thread-safe.
class StatsMessages {
 public:
  StatsMessages(GstElement* element, const LiveSettings& live) : element_(element), live_(live) {}

  /// Posts when an interval has passed since the last message.
  void post_if_due(guint64 now_ns);
  /// Posts at the end of a stream, however short the last interval was.
  void post_last();

 private:
  void post();

  GstElement* const element_;
  const LiveSettings& live_;
  std::atomic<guint64> posted_ns_{0};  // time of the last message
};

}  // namespace gstnpu
