#pragma once

#include <gst/gst.h>

#include <atomic>

#include "graphs/settings.hpp"

namespace gstnpu {

/// The element messages "npu-stats" that the property stats-interval asks for. From any thread.
class StatsMessages {
 public:
  StatsMessages(GstElement* element, const LiveSettings& live) : element_(element), live_(live) {}

  /// Once an interval, where somebody asked for messages.
  void post_if_due(guint64 now_ns);
  /// The last one of a stream, however short the last interval was.
  void post_last();

 private:
  void post();

  GstElement* const element_;
  const LiveSettings& live_;
  std::atomic<guint64> posted_ns_{0};  // the last time
};

}  // namespace gstnpu
