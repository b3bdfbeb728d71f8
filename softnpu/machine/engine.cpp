#include "engine.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace softnpu {
namespace {

constexpr std::chrono::seconds kLongestExitDelay{10};
/// Result of jobs that the process's exit leaves no time for.
constexpr ze_result_t kStopped = ZE_RESULT_ERROR_UNINITIALIZED;

// Higher priority first, then the older submission.
bool goes_before(Priority a_priority, uint64_t a_ticket, Priority b_priority, uint64_t b_ticket) {
  if (a_priority != b_priority) return a_priority > b_priority;
  return a_ticket < b_ticket;
}

}  // namespace

Engine& Engine::instance() {
  static auto* const engine = new Engine;
  return *engine;
}

Engine::Engine() : process_(::getpid()) {}

void Engine::stop_at_exit() {
  static const int registered = std::atexit([] { Engine::instance().stop(); });
  static_cast<void>(registered);
}

void Engine::start() {
  // Registered after OpenVINO was loaded, and so run before its clean-up: the engine must not be
  // inside OpenVINO by then.
  static const int registered = std::atexit([] { Engine::instance().stop(); });
  static_cast<void>(registered);
  std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "softnpu");
    loop();
  }).detach();
  started_ = true;
}

void Engine::submit(const std::shared_ptr<Lane>& lane, std::shared_ptr<Job> job) {
  std::unique_lock lock(mutex_);
  if (!stopping_) return enqueue(lane, std::move(job));
  lock.unlock();
  job->abort(kStopped);
}

void Engine::submit_or_run(const std::shared_ptr<Lane>& lane, const std::shared_ptr<Job>& job) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    return job->abort(kStopped);
  }
  if (!free() || job->waits_for_events()) return enqueue(lane, job);
  begin_command();
  inline_job_ = &job;
  lock.unlock();
  while (!job->finished()) job->step();
  lock.lock();
  inline_job_ = nullptr;
  end_command();
  if (holds_ != 0 || stopping_) {
    idle_.notify_all();
  }
  if (!busy_lanes_.empty()) {
    changed_.notify_one();
  }
  complete(lock, *job);
}

void Engine::enqueue(const std::shared_ptr<Lane>& lane, std::shared_ptr<Job> job) {
  if (!started_) {
    start();
  }
  if (lane->entries_.empty()) {
    busy_lanes_.push_back(lane);
  }
  lane->entries_.push_back({next_ticket_++, std::move(job)});
  changed_.notify_one();
}

void Engine::set_priority(Lane& lane, Priority priority) {
  const std::scoped_lock lock(mutex_);
  lane.priority_ = priority;
}

Engine::Activity Engine::activity() {
  const std::scoped_lock lock(mutex_);
  const uint64_t now_ns = monotonic_ns();
  return {busy_ns_ + (running_ ? now_ns - running_since_ns_ : 0), now_ns};
}

void Engine::begin_command() {
  running_ = true;
  running_since_ns_ = monotonic_ns();
  Status::of_process().command_begins(running_since_ns_);
}

void Engine::end_command() {
  running_ = false;
  const uint64_t ran_ns = monotonic_ns() - running_since_ns_;
  busy_ns_ += ran_ns;
  Status::of_process().command_ends(ran_ns);
}

void Engine::wake() {
  const std::scoped_lock lock(mutex_);
  changed_.notify_one();
}

void Engine::abort_all(ze_result_t result) {
  std::unique_lock lock(mutex_);
  ++holds_;
  idle_.wait(lock, [this] { return !running_ && completing_ == 0; });
  --holds_;
  const Jobs jobs = take_all();
  lock.unlock();
  for (const auto& job : jobs) job->abort(result);
  wake();
}

Jobs Engine::take_all() {
  Jobs jobs;
  for (const auto& lane : std::exchange(busy_lanes_, {})) {
    for (auto& entry : lane->entries_) jobs.push_back(std::move(entry.job));
    lane->entries_.clear();
  }
  return jobs;
}

void Engine::stop() {
  if (::getpid() != process_) return;  // the thread, and perhaps the lock, stayed with the parent
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_one();
  if (!idle_.wait_for(lock, kLongestExitDelay, [this] { return !running_; })) return;
  const Jobs jobs = take_all();
  lock.unlock();
  for (const auto& job : jobs) job->abort(kStopped);  // threads may be waiting for them
}

// Nothing in a child of the process: another thread may have held the lock at the fork.
std::shared_ptr<Job> Engine::user_of(const Test& test) {
  if (::getpid() != process_) return nullptr;
  const auto uses = [&test](const Job& job) { return job.in_flight() && job.has_command(test); };
  const std::scoped_lock lock(mutex_);
  if (inline_job_ != nullptr && uses(**inline_job_)) return *inline_job_;
  for (const auto& lane : busy_lanes_) {
    for (const auto& entry : lane->entries_) {
      if (uses(*entry.job)) return entry.job;
    }
  }
  return nullptr;
}

std::shared_ptr<Lane> Engine::pick() const {
  std::shared_ptr<Lane> first;
  for (const auto& lane : busy_lanes_) {
    const auto& entry = lane->entries_.front();
    if (!entry.job->finished() && !entry.job->next().ready()) continue;
    if (!first || goes_before(lane->priority_, entry.ticket, first->priority_,
                              first->entries_.front().ticket)) {
      first = lane;
    }
  }
  return first;
}

void Engine::run_one(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Lane>& lane) {
  const auto job = lane->entries_.front().job;
  begin_command();
  lock.unlock();
  if (!job->finished()) {
    job->step();
  }
  const bool finished = job->finished();
  lock.lock();
  end_command();
  if (finished) {
    lane->entries_.pop_front();
  }
  if (holds_ != 0) {
    idle_.notify_all();
  }
  if (!finished) return;
  if (lane->entries_.empty()) {
    std::erase(busy_lanes_, lane);
  }
  complete(lock, *job);
}

void Engine::complete(std::unique_lock<std::mutex>& lock, Job& job) {
  ++completing_;
  lock.unlock();
  job.complete();  // wakes its waiters
  lock.lock();
  --completing_;
  if (holds_ != 0) {
    idle_.notify_all();
  }
}

void Engine::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (const auto lane = holds_ != 0 || running_ ? nullptr : pick()) {
      run_one(lock, lane);
    } else {
      changed_.wait(lock);
    }
  }
  idle_.notify_all();
}

}  // namespace softnpu
