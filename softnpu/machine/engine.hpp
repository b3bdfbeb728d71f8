#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "job.hpp"

namespace softnpu {

enum class Priority { kBackground, kIdle, kNormal, kRealtime };

/// The jobs of one command queue. The engine's lock guards them.
class Lane {
 public:
  explicit Lane(Priority priority) : priority_(priority) {}

 private:
  friend class Engine;
  struct Entry {
    uint64_t ticket;  ///< order of submission over all lanes
    std::shared_ptr<Job> job;
  };
  Priority priority_;
  std::deque<Entry> entries_;
};

/// The device's one engine: a thread that runs one command at a time, in order within a lane, lanes
/// by priority.
class Engine {
 public:
  /// Lives until the process ends; its thread starts with the first submission, so that a process
  /// may fork before it.
  static Engine& instance();

  void submit(const std::shared_ptr<Lane>& lane, std::shared_ptr<Job> job);
  /// As `submit`, but runs the job at once on the caller's thread if nothing is in its way: for
  /// work that takes no time.
  void submit_or_run(const std::shared_ptr<Lane>& lane, const std::shared_ptr<Job>& job);
  /// The time that commands have run since the process began, including the running one.
  struct Activity {
    uint64_t busy_ns;
    uint64_t at_ns;  ///< CLOCK_MONOTONIC
  };
  Activity activity();
  void set_priority(Lane& lane, Priority priority);
  /// Tells the engine that the host changed an event it may be waiting for.
  void wake();
  /// Ends everything submitted with `result`: when this returns none of it runs any more, and the
  /// jobs have released their commands.
  void abort_all(ze_result_t result);
  /// Registers stop() for the process's exit. Call it after OpenVINO is loaded, so that it runs
  /// first.
  void stop_at_exit();
  /// Lets the running command end, and runs no other; at the process's exit. Jobs that are left,
  /// and later ones, end as failed, so that no thread waits for ever.
  void stop();
  /// A job in flight that has a command for which `test` is true, null for none.
  using Test = std::function<bool(const Command&)>;
  std::shared_ptr<Job> user_of(const Test& test);
  /// True once the process ends and nothing runs any more.
  bool stopped() const { return stopping_; }

 private:
  Engine();
  void start();
  void loop();
  /// The lane whose next command may run and goes first; null for none.
  std::shared_ptr<Lane> pick() const;
  /// True if nothing is submitted and nothing runs.
  bool free() const { return busy_lanes_.empty() && !running_ && holds_ == 0 && !stopping_; }
  /// Takes everything submitted out of the lanes; hold the lock.
  Jobs take_all();
  void begin_command();
  void end_command();
  void enqueue(const std::shared_ptr<Lane>& lane, std::shared_ptr<Job> job);
  // Completes a job without the lock.
  void complete(std::unique_lock<std::mutex>& lock, Job& job);
  void run_one(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Lane>& lane);

  std::mutex mutex_;  // guards all below and every lane
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::vector<std::shared_ptr<Lane>> busy_lanes_;  // those with entries
  uint64_t next_ticket_ = 0;
  bool started_ = false;
  bool running_ = false;     // a command, on whatever thread
  uint32_t completing_ = 0;  // jobs that have run and still hold their commands
  const std::shared_ptr<Job>* inline_job_ = nullptr;  // on its submitter's thread, in no lane
  uint64_t running_since_ns_ = 0;
  uint64_t busy_ns_ = 0;  // without the running command
  uint32_t holds_ = 0;    // callers that want no command to start
  std::atomic<bool> stopping_{false};
  const pid_t process_;  // the owner; a child of it has no engine
};

}  // namespace softnpu
