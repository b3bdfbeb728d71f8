#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace gstnpu {

/// Something submitted whose end a FenceWatch sees.
class Watched {
 protected:
  ~Watched() = default;

 private:
  friend class FenceWatch;
  /// Waits for its fence and notes the time.
  virtual void see_end() noexcept = 0;

  // Guarded by the watch's mutex.
  Watched* next_ = nullptr;
  bool is_seen_ = true;
};

/// Sees the fences of a stream's inferences when they signal, oldest first. Whoever waits for an
/// inference waits for its fence itself, for a thread of the watch's own would be woken twice a
/// frame. That thread stands in only while the usual waiter is absent, whom a sink may keep for as
/// long as it likes: times are those of the fences. From any thread; one adds.
class FenceWatch {
 public:
  FenceWatch() = default;
  /// Nothing is unseen any more.
  ~FenceWatch();
  FenceWatch(const FenceWatch&) = delete;
  FenceWatch& operator=(const FenceWatch&) = delete;

  /// It was submitted, and somebody is going to wait for it.
  void add(Watched& item);
  /// Until its end was seen.
  void wait(Watched& item);

  /// Whether nobody is about to wait, because who usually does is kept or has stopped.
  void set_absent(bool is_absent);
  /// While it exists. One at a time.
  class Absence {
   public:
    explicit Absence(FenceWatch& watch) : watch_(watch) { watch_.set_absent(true); }
    ~Absence() { watch_.set_absent(false); }
    Absence(const Absence&) = delete;
    Absence& operator=(const Absence&) = delete;

   private:
    FenceWatch& watch_;
  };

 private:
  bool needs_stand_in() const { return oldest_ && is_absent_ && !is_watched_; }
  void call_stand_in_if_needed();
  void stand_in();
  void see_oldest(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // guards all below and what it says in Watched
  std::condition_variable called_, seen_;
  Watched* oldest_ = nullptr;
  Watched* newest_ = nullptr;
  bool is_watched_ = false;  // somebody waits for the oldest one's fence
  bool is_absent_ = false;   // the usual waiter
  bool is_stopping_ = false;
  std::thread stand_in_;  // from the first time that it is needed
};

}  // namespace gstnpu
