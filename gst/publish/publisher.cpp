#include "publisher.hpp"

#include <utility>

namespace gstnpu {

Publisher::Publisher(std::unique_ptr<Sink> sink, const Options& options, OnFailure on_failure)
    : sink_(std::move(sink)),
      options_(options),
      on_failure_(std::move(on_failure)),
      thread_([this] { run(); }) {}

Publisher::~Publisher() {
  stop_thread();
}

// ---- For the one who makes lines

/// For one more line.
Publisher::Result Publisher::room() const {
  if (queue_.size() >= options_.most_lines) return Result::kTooManyLines;
  return queued_bytes_ >= kMostBytes ? Result::kTooManyBytes : Result::kTaken;
}

void Publisher::drop_oldest() {
  queued_bytes_ -= queue_.front().size();
  queue_.pop_front();
  ++dropped_;
}

void Publisher::throw_failure() {
  if (!failure_) return;
  was_thrown_ = true;
  std::rethrow_exception(failure_);
}

Publisher::Result Publisher::push(std::string line) {
  std::unique_lock lock(mutex_);
  const bool blocks = options_.policy == PublishPolicy::kBlock;
  if (blocks) {
    progress_.wait(lock, [this] { return !is_full() || waits_for_nothing(); });
  }
  ++taken_;
  if (failure_) {
    ++failed_;
    throw_failure();
  }
  if (blocks && waits_for_nothing()) {
    ++dropped_;
    return Result::kInterrupted;
  }
  const Result result = room();
  if (result != Result::kTaken) {
    if (options_.policy == PublishPolicy::kDropNew) {
      ++dropped_;
      return result;
    }
    drop_oldest();
  }
  queued_bytes_ += line.size();
  queue_.push_back(std::move(line));
  work_.notify_one();
  return result;
}

bool Publisher::drain(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  wants_flush_ = !has_ended_;
  work_.notify_one();
  progress_.wait_for(lock, longest,
                     [this] { return !wants_flush_ || has_ended_ || waits_for_nothing(); });
  if (!was_thrown_) {
    throw_failure();
  }
  return is_all_out();
}

void Publisher::end(std::chrono::milliseconds longest) {
  {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    work_.notify_one();
    progress_.wait_for(lock, longest, [this] { return has_ended_; });
  }
  stop_thread();
  const std::scoped_lock lock(mutex_);
  if (!was_thrown_) {
    throw_failure();
  }
}

/// A sink that waits for nobody still writes what can be written at once.
void Publisher::stop_thread() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    work_.notify_one();
  }
  sink_->interrupt();
  thread_.join();
}

void Publisher::interrupt() {
  const std::scoped_lock lock(mutex_);
  is_interrupted_ = true;
  progress_.notify_all();
}

void Publisher::resume() {
  const std::scoped_lock lock(mutex_);
  is_interrupted_ = false;
}

void Publisher::refuse() {
  const std::scoped_lock lock(mutex_);
  is_refused_ = true;
  progress_.notify_all();
}

bool Publisher::is_interrupted() const {
  const std::scoped_lock lock(mutex_);
  return is_interrupted_ || is_refused_;
}

Publisher::Stats Publisher::stats() const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t queued = queue_.size() + held_;
  return {.published = taken_ - dropped_ - failed_ - queued,
          .dropped = dropped_,
          .failed = failed_,
          .queued = queued};
}

// ---- The thread

bool Publisher::has_work() const {
  const bool waits_for_answers = held_ > 0 && sink_->awaits_answers();
  return !queue_.empty() || wants_flush_ || is_ending_ || waits_for_answers;
}

void Publisher::run() {
  std::unique_lock lock(mutex_);
  for (bool goes_on = true; goes_on;) {
    work_.wait(lock, [this] { return has_work(); });
    if (!queue_.empty()) {
      goes_on = hand_over(lock);
    } else {
      goes_on = flush(lock) && !(is_ending_ && is_all_out());
    }
    progress_.notify_all();
  }
  has_ended_ = true;
  progress_.notify_all();
}

/// False: it is over.
bool Publisher::hand_over(std::unique_lock<std::mutex>& lock) {
  const std::string line = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= line.size();
  ++held_;
  progress_.notify_all();
  return call_sink(lock, [&] { return sink_->write(line); });
}

/// Once: where lines are left, or have come meanwhile, the next one goes on with them.
bool Publisher::flush(std::unique_lock<std::mutex>& lock) {
  const bool goes_on = call_sink(lock, [this] { return sink_->flush(); });
  wants_flush_ = wants_flush_ && !(goes_on && is_all_out());
  return goes_on;
}

/// Works without the lock. False: it is over, because somebody has ended it or the sink has.
bool Publisher::call_sink(std::unique_lock<std::mutex>& lock, const std::function<bool()>& work) {
  bool is_done = true;
  lock.unlock();
  try {
    is_done = work();
    lock.lock();
    held_ = sink_->held();
  } catch (...) {
    lock.lock();
    held_ = sink_->held();
    ++failed_;
    note_failure(lock);
  }
  return is_done && !failure_;
}

/// In a handler.
void Publisher::note_failure(std::unique_lock<std::mutex>& lock) {
  if (options_.policy == PublishPolicy::kBlock) {
    failure_ = std::current_exception();
    failed_ += queue_.size() + std::exchange(held_, 0);
    queue_.clear();
    queued_bytes_ = 0;
    return;
  }
  if (std::exchange(was_told_, true)) return;
  lock.unlock();
  on_failure_();
  lock.lock();
}

}  // namespace gstnpu
