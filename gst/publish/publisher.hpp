// Lines on their way out, in a thread of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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
class Publisher final : public Ledger {
 public:
  struct Options {
    PublishPolicy policy = PublishPolicy::kBlock;
    std::uint32_t most_lines = 1000;  ///< that wait
    std::string target = {};          ///< name of the destination, for warnings
  };
  struct Stats {
    std::uint64_t published = 0;  ///< lines that are out
    std::uint64_t dropped = 0;    ///< for want of room, or interrupted while they waited for it
    std::uint64_t failed = 0;     ///< that the sink could not take
    std::uint64_t queued = 0;     ///< that wait, or are on their way
  };

  using OpenSink = std::function<std::unique_ptr<Sink>(Ledger& ledger)>;
  using Warn = std::function<void(const std::string& text)>;

  /// Throws what `open` throws. Any thread calls `warn`; it hears once each of dropped lines, of
  /// failures where the policy drops, and of a wait that is long.
  Publisher(const OpenSink& open, Options options, Warn warn);
  /// Drops what waits: end() first.
  ~Publisher() override { stop_thread(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// False: interrupted. Throws the PublishError of a line that failed where the policy blocks.
  bool push(std::string line);
  /// Waits until all lines are out, for that long, or until it is interrupted: false. Throws as
  /// push(), unless a call has.
  bool drain(std::chrono::milliseconds longest);
  /// Ends the thread and the sink; lines that wait have that long. Throws as drain().
  void end(std::chrono::milliseconds longest);

  /// Makes push() and drain() wait for nothing, until resume(). Any thread.
  void interrupt() { set(is_interrupted_, true); }
  void resume() { set(is_interrupted_, false); }
  /// Interrupts for good: a resume() beside a stop must not make it wait.
  void refuse() { set(is_refused_, true); }
  Stats stats() const;

  // For the sink.
  GCancellable* cancel() const override { return cancel_.get(); }
  void note_out(std::size_t lines) override;
  void note_failed(std::size_t lines, const PublishError& why) override;
  void warn(const std::string& text) override { warn_(text); }

  static constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

 private:
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds longest,
            const Condition& is_over);
  void run();
  void set(bool& flag, bool value);
  bool is_full() const { return queue_.size() >= options_.most_lines; }
  bool waits_for_nothing() const { return failure_ || is_interrupted_ || is_refused_; }
  void throw_new_failure();
  void stop_thread();

  const Options options_;
  const Warn warn_;
  const ObjectRef<GCancellable> cancel_{g_cancellable_new()};

  mutable std::mutex mutex_;  // guards all below but for sink_
  std::condition_variable work_, progress_;
  std::deque<std::string> queue_;
  Stats stats_;
  bool is_ending_ = false, is_interrupted_ = false, is_refused_ = false;
  bool told_drops_ = false, told_failure_ = false, told_stall_ = false;
  std::optional<PublishError> failure_;  // where the policy blocks
  bool was_thrown_ = false;

  std::unique_ptr<Sink> sink_;  // of the thread
  std::thread thread_;
};

}  // namespace gstnpu
