#include "publisher.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace gstnpu {

Publisher::Publisher(const OpenSink& open, Options options, Warn warn)
    : options_(std::move(options)),
      warn_(std::move(warn)),
      sink_(open(*this)),
      thread_([this] { run(); }) {}

// ---- For the one who makes lines

void Publisher::throw_new_failure() {
  if (failure_ && !std::exchange(was_thrown_, true)) throw *failure_;
}

/// Tells of a wait that is long, because nobody may ever take a line.
template <typename Condition>
void Publisher::wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds longest,
                     const Condition& is_over) {
  constexpr std::chrono::milliseconds kPatience{2000};
  if (progress_.wait_for(lock, std::min(longest, kPatience), is_over) || longest <= kPatience) {
    return;
  }
  if (!std::exchange(told_stall_, true)) {
    const std::uint64_t waiting = stats_.queued;
    lock.unlock();
    warn_("The stream waits for " + std::to_string(waiting) + " lines to be taken at " +
          options_.target +
          ": whoever takes them is away, or slower than the stream. With policy=drop-old lines are "
          "lost instead");
    lock.lock();
  }
  progress_.wait_for(lock, longest - kPatience, is_over);
}

bool Publisher::push(std::string line) {
  std::unique_lock lock(mutex_);
  if (options_.policy == PublishPolicy::kBlock) {
    wait(lock, kForever, [this] { return !is_full() || waits_for_nothing(); });
    if (failure_) {
      ++stats_.failed;
      was_thrown_ = true;
      throw *failure_;
    }
    if (waits_for_nothing()) {
      ++stats_.dropped;
      return false;
    }
  }
  const bool drops = is_full();
  if (drops && options_.policy == PublishPolicy::kDropNew) {
    ++stats_.dropped;
  } else {
    if (drops) {
      queue_.pop_front();
      ++stats_.dropped;
    } else {
      ++stats_.queued;
    }
    queue_.push_back(std::move(line));
    work_.notify_one();
  }
  if (!drops || std::exchange(told_drops_, true)) return true;
  lock.unlock();
  warn_("Lines for " + options_.target +
        " are dropped (policy): " + std::to_string(options_.most_lines) +
        " of them wait already, because whoever reads them is away, or slower than the stream. "
        "Make the reader faster, or queue-size larger");
  return true;
}

bool Publisher::drain(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  wait(lock, longest, [this] { return stats_.queued == 0 || waits_for_nothing(); });
  throw_new_failure();
  return !is_interrupted_ && !is_refused_;
}

void Publisher::end(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  progress_.wait_for(lock, longest, [this] { return stats_.queued == 0 || failure_; });
  lock.unlock();
  stop_thread();
  throw_new_failure();
}

/// Lines that a file takes without waiting still get out.
void Publisher::stop_thread() {
  if (!thread_.joinable()) return;
  set(is_ending_, true);
  g_cancellable_cancel(cancel_.get());
  thread_.join();
  sink_.reset();
}

void Publisher::set(bool& flag, bool value) {
  const std::scoped_lock lock(mutex_);
  flag = value;
  work_.notify_one();
  progress_.notify_all();
}

Publisher::Stats Publisher::stats() const {
  const std::scoped_lock lock(mutex_);
  return stats_;
}

// ---- The thread

/// Until the sink is cancelled, has failed for good, or has all lines at the end.
void Publisher::run() {
  sigset_t broken_pipe;  // an error of write() then, whatever the application does with SIGPIPE
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  std::unique_lock lock(mutex_);
  for (bool goes_on = true; goes_on;) {
    work_.wait(lock, [this] { return !queue_.empty() || is_ending_ || failure_; });
    if (queue_.empty()) return;
    const std::string line = std::move(queue_.front());
    queue_.pop_front();
    progress_.notify_all();
    lock.unlock();
    try {
      goes_on = sink_->write(line);
    } catch (const PublishError& error) {
      note_failed(1, error);
    }
    lock.lock();
  }
}

void Publisher::note_out(std::size_t lines) {
  const std::scoped_lock lock(mutex_);
  stats_.published += lines;
  stats_.queued -= lines;
  progress_.notify_all();
}

void Publisher::note_failed(std::size_t lines, const PublishError& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (options_.policy == PublishPolicy::kBlock && !failure_) {
      failure_ = why;
      lines += queue_.size();
      queue_.clear();
    }
    stats_.failed += lines;
    stats_.queued -= lines;
    work_.notify_one();
    progress_.notify_all();
    if (failure_ || std::exchange(told_failure_, true)) return;
  }
  warn_(std::string("Lines are lost until this passes: ") + why.what());
}

}  // namespace gstnpu
