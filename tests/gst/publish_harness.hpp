// Helpers for tests of npupublish.
#pragma once

#include <functional>
#include <string>

#include "gst/hand_made_frames.hpp"

namespace gstnpu_test {

/// Whether it becomes so soon, for lines are written in a thread of their own.
bool becomes(const std::function<bool()>& is_so);

struct Failure {
  GQuark domain = 0;
  gint code = 0;
  std::string text;
};

Failure take_error(GstBus* bus);
/// The failure of a start with this location, and more properties.
Failure failure_of_start(const std::string& location, const std::string& more = {});

struct Counts {
  guint64 published = 0, dropped = 0, failed = 0, queued = 0;
};

/// The "stats" of the element "publish", all of one moment.
Counts counts_of(ElementHarness& harness);

}  // namespace gstnpu_test
