#pragma once

#include <gio/gio.h>

#include <utility>

namespace gstnpu {

/// Waits so long. False: cancelled.
inline bool pause(GCancellable* cancel, gint64 milliseconds) {
  GPollFD cancelled;
  if (milliseconds > 0 && g_cancellable_make_pollfd(cancel, &cancelled)) {
    g_poll(&cancelled, 1, static_cast<gint>(milliseconds));
    g_cancellable_release_fd(cancel);
  }
  return !g_cancellable_is_cancelled(cancel);
}

/// Attempts at a destination that is away: each waits longer, and one is told of, until one was of
/// use.
class Backoff {
 public:
  /// False: cancelled.
  bool wait(GCancellable* cancel) {
    const bool goes_on = pause(cancel, next_ms_);
    next_ms_ = CLAMP(2 * next_ms_, kFirstMs, kLongestMs);
    return goes_on;
  }
  /// Whether nobody has been told yet.
  bool is_news() { return !std::exchange(is_told_, true); }
  void reset() { *this = {}; }

 private:
  static constexpr gint64 kFirstMs = 200, kLongestMs = 5000;

  gint64 next_ms_ = 0;
  bool is_told_ = false;
};

}  // namespace gstnpu
