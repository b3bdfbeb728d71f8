#pragma once

#include <atomic>
#include <functional>
#include <mutex>

namespace npu::internal {

/// A flag that gives a compilation up. Any thread may set it and look.
class Cancellation {
 public:
  Cancellation() = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  /// Wakes waiters for a turn, and ends the helper process that compiles.
  void request() noexcept;
  bool requested() const { return requested_.load(); }
  const std::atomic<bool>& flag() const { return requested_; }

  /// While one lives, a request calls `end`, at once if it came before.
  class Ends {
   public:
    /// `cancellation` may be null.
    Ends(Cancellation* cancellation, std::function<void()> end);
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;
    ~Ends();

   private:
    Cancellation* const cancellation_;
  };

 private:
  std::atomic<bool> requested_ = false;
  std::mutex mutex_;  // guards end_
  std::function<void()> end_;
};

}  // namespace npu::internal
