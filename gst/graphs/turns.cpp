#include "turns.hpp"

#include <algorithm>

namespace gstnpu {

void Turns::allow(guint inferences) {
  const std::scoped_lock lock(mutex_);
  most_ = std::max(most_, inferences);
  grant();
}

void Turns::give_back() {
  const std::scoped_lock lock(mutex_);
  --taken_;
  grant();
}

bool Turns::comes_before(const Place* one, const Place* other) {
  if (one->priority_ != other->priority_) return one->priority_ > other->priority_;
  return one->last_turn_ < other->last_turn_;
}

/// Called with the mutex held.
void Turns::grant() {
  while (taken_ < most_ && !waiting_.empty()) {
    const auto next = std::min_element(waiting_.begin(), waiting_.end(), comes_before);
    Place& place = **next;
    waiting_.erase(next);
    place.is_granted_ = true;
    place.last_turn_ = ++count_;
    ++taken_;
    place.changed_.notify_all();
  }
}

std::optional<Turns::Turn> Turns::Place::take(guint priority, std::chrono::nanoseconds timeout) {
  std::unique_lock lock(turns_->mutex_);
  if (is_stopped_) return std::nullopt;
  priority_ = priority;
  is_granted_ = false;
  turns_->waiting_.push_back(this);
  turns_->grant();
  changed_.wait_for(lock, timeout, [this] { return is_granted_ || is_stopped_; });
  if (is_granted_) return Turn(turns_);
  std::erase(turns_->waiting_, this);
  return std::nullopt;
}

void Turns::Place::start() {
  const std::scoped_lock lock(turns_->mutex_);
  is_stopped_ = false;
}

void Turns::Place::stop() {
  const std::scoped_lock lock(turns_->mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

}  // namespace gstnpu
