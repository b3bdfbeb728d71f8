#pragma once

#include <gio/gio.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace gstnpu {

/// Lines on their way to a broker, which has not confirmed them: so many at most.
class Window {
 public:
  Window(std::size_t most, GCancellable* cancel) : most_(most), cancel_(cancel) {
    const auto wake = +[](GCancellable*, gpointer self) { static_cast<Window*>(self)->wake(); };
    handler_ = g_cancellable_connect(cancel, G_CALLBACK(wake), this, nullptr);
  }
  ~Window() { g_cancellable_disconnect(cancel_, handler_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Waits for room, and until `may_pass`, which is called with the lock of the window. Then calls
  /// `work` so, and counts a line where that returns true. False: cancelled.
  bool enter(const std::function<bool()>& may_pass, const std::function<bool()>& work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_cancelled() || (size_ < most_ && may_pass()); });
    if (is_cancelled()) return false;
    size_ += work() ? 1 : 0;
    return true;
  }
  void leave() {
    change([this] { --size_; });
  }
  /// Empties it; how many lines there were.
  std::size_t leave_all() {
    std::size_t left = 0;
    change([&] { left = std::exchange(size_, 0); });
    return left;
  }
  /// Changes what `may_pass` looks at.
  void change(const std::function<void()>& change) {
    const std::scoped_lock lock(mutex_);
    change();
    changed_.notify_all();
  }
  bool is_cancelled() const { return g_cancellable_is_cancelled(cancel_) != 0; }

 private:
  void wake() {
    change([] {});
  }

  const std::size_t most_;
  GCancellable* const cancel_;
  gulong handler_ = 0;
  std::mutex mutex_;  // guards size_
  std::condition_variable changed_;
  std::size_t size_ = 0;
};

}  // namespace gstnpu
