#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace gstnpu {

/// A submission whose end a FenceWatch sees.
class Watched {
 protected:
  ~Watched() = default;

 private:
  friend class FenceWatch;
  /// Waits for the fence and notes the time.
  virtual void see_end() noexcept = 0;

  // Guarded by the FenceWatch's mutex.
  Watched* next_ = nullptr;
  bool is_seen_ = true;
};

/// Notes when the fences of a stream's inferences signal, oldest first. The thread that waits for
/// an inference waits for its fence itself, because a thread of the watch would cost two wake-ups a
/// frame. The watch's thread stands in only while that waiter is absent: a sink may keep it for any
/// time, and the noted times must stay those of the fences. Thread-safe, but only one thread adds.
class FenceWatch {
 public:
  FenceWatch() = default;
  /// Every item must have been seen.
  ~FenceWatch();
  FenceWatch(const FenceWatch&) = delete;
  FenceWatch& operator=(const FenceWatch&) = delete;

  /// Adds an item that was submitted and that some thread will wait for.
  void add(Watched& item);
  /// Waits until the item's end was seen.
  void wait(Watched& item);

  /// Tells whether the usual waiter is absent: blocked downstream, or stopped.
  void set_absent(bool is_absent);
  /// Marks the waiter as absent for its lifetime. One at a time.
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

  std::mutex mutex_;  // guards all below, and the members of Watched
  std::condition_variable called_, seen_;
  Watched* oldest_ = nullptr;
  Watched* newest_ = nullptr;
  bool is_watched_ = false;  // somebody waits for the oldest one's fence
  bool is_absent_ = false;   // of the usual waiter
  bool is_stopping_ = false;
  std::thread stand_in_;  // started when first needed
};

}  // namespace gstnpu
