#include "timed_request.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gstnpu {

guint64 now_ns() {
  return static_cast<guint64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

Backlog::Backlog(std::shared_ptr<Backlog> device, std::shared_ptr<Turns> turns)
    : device_(std::move(device)), turns_(std::move(turns)) {
  if (device_) {
    ++device_->streams_;
  }
}

Backlog::~Backlog() {
  if (device_) {
    --device_->streams_;
  }
}

void Backlog::add(guint64 now_ns) {
  if (device_) {
    device_->add(now_ns);
  }
  const std::scoped_lock lock(mutex_);
  if (is_stale(now_ns)) {
    device_ns_ = 0;
  }
  if (unfinished_++ == 0) {
    idle_until_ns_ = now_ns;
  }
}

void Backlog::take_back() {
  if (device_) {
    device_->take_back();
  }
  const std::scoped_lock lock(mutex_);
  --unfinished_;
}

/// Called with the mutex held. True when nothing has run for a second: one very slow inference may
/// have made every later frame look late, and only another inference can correct that.
bool Backlog::is_stale(guint64 now_ns) const {
  constexpr guint64 kBelieved = 1'000'000'000;
  return unfinished_ == 0 && now_ns > idle_until_ns_ + kBelieved;
}

void Backlog::end(InferenceTime& time, bool failed) {
  note_end(time, failed);
  if (device_) {
    device_->end(time, failed);  // computes the device time from all streams
  }
  if (turns_) {
    turns_->give_back();
  }
  if (told_) {
    told_();
  }
}

void Backlog::note_end(InferenceTime& time, bool failed) {
  const std::scoped_lock lock(mutex_);
  --unfinished_;
  const guint64 begun_ns = std::max(time.submitted_ns, std::min(idle_until_ns_, time.done_ns));
  time.device_ns = time.done_ns - begun_ns;
  idle_until_ns_ = time.done_ns;
  if (failed) return;
  constexpr guint64 kSmooth = 8;
  device_ns_ =
      device_ns_ == 0 ? time.device_ns : (device_ns_ * (kSmooth - 1) + time.device_ns) / kSmooth;
}

guint Backlog::unfinished() const {
  const std::scoped_lock lock(mutex_);
  return unfinished_;
}

guint64 Backlog::expected_ns(guint64 now_ns) const {
  if (device_) return device_->expected_ns(now_ns);
  const std::scoped_lock lock(mutex_);
  if (unfinished_ == 0) return is_stale(now_ns) ? 0 : device_ns_;
  const guint64 ran_ns = now_ns - std::min(now_ns, idle_until_ns_);
  const guint64 left_ns = device_ns_ - std::min(device_ns_, ran_ns);
  return left_ns + unfinished_ * device_ns_;
}

guint64 Backlog::device_ns() const {
  if (device_) return device_->device_ns();
  const std::scoped_lock lock(mutex_);
  return device_ns_;
}

guint64 Backlog::fair_ns() const {
  const Backlog& device = device_ ? *device_ : *this;
  return (std::max(device.streams_.load(), 1u) + 1) * device.device_ns();
}

std::uint64_t TimedRequest::submit(const npu::Bindings& bindings,
                                   const std::shared_ptr<Backlog>& backlog, FenceWatch& watch) {
  backlog_ = backlog;
  watch_ = &watch;
  time_.submitted_ns = now_ns();
  backlog_->add(time_.submitted_ns);
  std::uint64_t copied = 0;
  try {
    copied = request_.submit(bindings);
  } catch (...) {
    backlog_->take_back();
    throw;
  }
  watch.add(*this);
  return copied;
}

void TimedRequest::wait() {
  watch_->wait(*this);
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void TimedRequest::see_end() noexcept {
  try {
    request_.wait();
  } catch (...) {
    error_ = std::current_exception();
  }
  time_.done_ns = now_ns();
  backlog_->end(time_, error_ != nullptr);
}

}  // namespace gstnpu
