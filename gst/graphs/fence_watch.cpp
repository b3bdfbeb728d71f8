#include "fence_watch.hpp"

#include <exception>

#include "common/log.hpp"

namespace gstnpu {

FenceWatch::~FenceWatch() {
  if (!stand_in_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  called_.notify_one();
  stand_in_.join();
}

void FenceWatch::add(Watched& item) {
  const std::scoped_lock lock(mutex_);
  item.next_ = nullptr;
  item.is_seen_ = false;
  (newest_ ? newest_->next_ : oldest_) = &item;
  newest_ = &item;
  call_stand_in_if_needed();
}

void FenceWatch::wait(Watched& item) {
  std::unique_lock lock(mutex_);
  while (!item.is_seen_) {
    if (is_watched_) {
      seen_.wait(lock);
    } else {
      see_oldest(lock);
    }
  }
  call_stand_in_if_needed();
}

void FenceWatch::set_absent(bool is_absent) {
  const std::scoped_lock lock(mutex_);
  is_absent_ = is_absent;
  call_stand_in_if_needed();
}

/// Called with the mutex held. If no thread can be started, fences are seen once the waiter is
/// back.
void FenceWatch::call_stand_in_if_needed() try {
  if (!needs_stand_in()) return;
  if (!stand_in_.joinable()) {
    stand_in_ = std::thread([this] { stand_in(); });
  }
  called_.notify_one();
} catch (const std::exception& error) {
  GST_CAT_WARNING(gstnpu_debug, "times may be too long: no thread could be started (%s)",
                  error.what());
}

/// Once awake, the stand-in waits for every pending fence: handing over again would cost two more
/// wake-ups.
void FenceWatch::stand_in() {
  std::unique_lock lock(mutex_);
  for (;;) {
    called_.wait(lock, [this] { return is_stopping_ || needs_stand_in(); });
    if (is_stopping_) return;
    while (oldest_ && !is_watched_) see_oldest(lock);
  }
}

/// The item's owner may destroy it as soon as the lock is released after this.
void FenceWatch::see_oldest(std::unique_lock<std::mutex>& lock) {
  Watched& item = *oldest_;
  is_watched_ = true;
  lock.unlock();
  item.see_end();
  lock.lock();
  is_watched_ = false;
  oldest_ = item.next_;
  if (!oldest_) {
    newest_ = nullptr;
  }
  item.is_seen_ = true;
  seen_.notify_all();
}

}  // namespace gstnpu
