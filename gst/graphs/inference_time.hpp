#pragma once

#include <glib.h>

#include <chrono>

namespace gstnpu {

/// By the steady clock.
inline guint64 now_ns() {
  return static_cast<guint64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// When an inference went to the device, and when its fence was seen.
struct InferenceTime {
  guint64 submitted_ns = 0, done_ns = 0;
  guint64 elapsed_ns() const { return done_ns - submitted_ns; }
};

}  // namespace gstnpu
