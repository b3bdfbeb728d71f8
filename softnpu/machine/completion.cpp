#include "completion.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "base/clock.hpp"

namespace softnpu {
namespace {

// Sleeps while `*word` is `expected`, at most until the deadline; returns early for any reason.
void futex_wait(std::atomic<uint32_t>* word, uint32_t expected, Deadline deadline) {
  timespec at{static_cast<time_t>(deadline.at_ns() / 1'000'000'000),
              static_cast<long>(deadline.at_ns() % 1'000'000'000)};
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time.
  ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline.never() ? nullptr : &at,
            nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(std::atomic<uint32_t>* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

Deadline Deadline::after(uint64_t timeout_ns) {
  if (timeout_ns == 0) return Deadline(0);
  const uint64_t now = monotonic_ns();
  return Deadline(timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns);
}

bool Deadline::passed() const {
  return !never() && monotonic_ns() >= at_ns_;
}

void Completion::set() {
  if (state_.exchange(kSet, std::memory_order_acq_rel) == kAwaited) {
    futex_wake_all(&state_);
  }
}

bool Completion::wait(Deadline deadline) const {
  while (!is_set()) {
    if (deadline.passed()) return false;
    uint32_t expected = kClear;
    state_.compare_exchange_strong(expected, kAwaited, std::memory_order_acq_rel);
    if (expected != kSet) {
      futex_wait(&state_, kAwaited, deadline);
    }
  }
  return true;
}

}  // namespace softnpu
