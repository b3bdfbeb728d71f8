#pragma once

#include <atomic>
#include <cstdint>

namespace softnpu {

/// A point in time of CLOCK_MONOTONIC.
class Deadline {
 public:
  /// Level Zero's timeouts: 0 polls, UINT64_MAX waits for ever.
  static Deadline after(uint64_t timeout_ns);
  bool never() const { return at_ns_ == UINT64_MAX; }
  bool passed() const;
  uint64_t at_ns() const { return at_ns_; }

 private:
  explicit Deadline(uint64_t at_ns) : at_ns_(at_ns) {}
  uint64_t at_ns_;
};

/// A flag that is set once and waited for. A wait makes a system call only if it has to sleep,
/// setting only if somebody sleeps.
class Completion {
 public:
  bool is_set() const { return state_.load(std::memory_order_acquire) == kSet; }
  void set();
  /// Keeps the mark of waiters, for the next set.
  void reset() {
    uint32_t expected = kSet;
    state_.compare_exchange_strong(expected, kClear, std::memory_order_acq_rel);
  }
  /// False if the deadline came first.
  bool wait(Deadline deadline) const;

 private:
  static constexpr uint32_t kClear = 0;
  static constexpr uint32_t kAwaited = 1;
  static constexpr uint32_t kSet = 2;
  mutable std::atomic<uint32_t> state_{kClear};
};

}  // namespace softnpu
