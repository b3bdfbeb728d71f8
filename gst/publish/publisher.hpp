// Lines on their way out, in a thread of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "publish/sinks/sink.hpp"

namespace gstnpu {

/// Treatment of a line for which there is no room.
enum class PublishPolicy {
  kBlock,    ///< it waits; a failure ends the stream
  kDropOld,  ///< the oldest that waits is dropped; a failure costs the line alone
  kDropNew,  ///< it is dropped; the same
};

/// Hands lines to a sink, which may be slow, without holding up the one who makes them.
class Publisher {
 public:
  struct Options {
    PublishPolicy policy = PublishPolicy::kBlock;
    std::uint32_t most_lines = 1000;  ///< that wait
  };
  struct Stats {
    std::uint64_t published = 0;  ///< lines that are out
    std::uint64_t dropped = 0;    ///< for want of room, or interrupted while they waited for it
    std::uint64_t failed = 0;     ///< that the sink could not take
    std::uint64_t queued = 0;     ///< that wait
  };
  /// Where lines are too many, or have too many bytes, this line or another one is dropped.
  enum class Result { kTaken, kTooManyLines, kTooManyBytes, kInterrupted };
  /// Used by policies that drop. Called once, by the publisher's thread, in a catch block with the
  /// failure.
  using OnFailure = std::function<void()>;

  Publisher(std::unique_ptr<Sink> sink, const Options& options, OnFailure on_failure);
  /// Drops what waits: end() first.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Throws what a blocking publisher's sink has thrown.
  Result push(std::string line);
  /// Waits until all lines are out, for that long. False: they are not, or it was interrupted.
  /// Throws as push(), unless a call has.
  bool drain(std::chrono::milliseconds longest);
  /// Ends the thread; lines that wait have that long. Throws as drain().
  void end(std::chrono::milliseconds longest);

  /// Makes push() and drain() wait for nothing, until resume(). Any thread.
  void interrupt();
  void resume();
  /// Interrupts for good: a resume() beside a stop must not make it wait.
  void refuse();
  /// Either of them, and not resumed.
  bool is_interrupted() const;
  Stats stats() const;

  static constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  ///< of lines that wait

 private:
  void run();
  bool has_work() const;
  Result room() const;
  bool is_full() const { return room() != Result::kTaken; }
  bool is_all_out() const { return queue_.empty() && held_ == 0; }
  bool waits_for_nothing() const { return failure_ || is_interrupted_ || is_refused_; }
  bool hand_over(std::unique_lock<std::mutex>& lock);
  bool flush(std::unique_lock<std::mutex>& lock);
  bool call_sink(std::unique_lock<std::mutex>& lock, const std::function<bool()>& work);
  void note_failure(std::unique_lock<std::mutex>& lock);
  void drop_oldest();
  void throw_failure();
  void stop_thread();

  const std::unique_ptr<Sink> sink_;  // of the thread, but for interrupt()
  const Options options_;
  const OnFailure on_failure_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable work_, progress_;
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t taken_ = 0, dropped_ = 0, failed_ = 0;
  std::uint64_t held_ = 0;  // by the sink, or on their way to it
  bool wants_flush_ = false, is_ending_ = false, is_interrupted_ = false, is_refused_ = false;
  bool has_ended_ = false;
  bool was_told_ = false;       // that lines fail
  std::exception_ptr failure_;  // of a blocking publisher
  bool was_thrown_ = false;

  std::thread thread_;
};

}  // namespace gstnpu
