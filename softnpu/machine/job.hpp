// Recorded commands, and a job: one submission of a command list's commands.
#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "completion.hpp"
#include "event.hpp"
#include "memory.hpp"

namespace softnpu {

struct Command;
class Context;

/// The changeable part of a graph's command: it can change between two submissions.
class Work {
 public:
  virtual ~Work() = default;
  /// Adds its inputs, and their places, to the trace line of the call that submits it.
  virtual void trace_inputs() const = 0;
  /// Called before a submission, with no other in flight: puts the changed values in place, also in
  /// `command`, which runs this. Throws UNKNOWN for a value that is not memory of `context` or is
  /// too small; the change then stays pending.
  virtual void settle(Context& context, Command& command) = 0;
};

struct Command {
  /// May throw, which fails the job. Empty: the command only waits or signals.
  std::function<void()> run;
  std::vector<std::shared_ptr<EventState>> waits;   ///< all signalled before the command runs
  std::shared_ptr<EventState> signals;              ///< null for none
  std::vector<std::shared_ptr<Allocation>> memory;  ///< kept alive by the command
  std::vector<const Allocation*> written;  ///< the part of `memory` that the command writes
  std::shared_ptr<Work> work;              ///< of a graph, else null
  const void* graph = nullptr;             ///< the graph that it executes, for comparison only
  std::shared_ptr<const GemHandle> code;   ///< of that graph's own memory

  bool ready() const;
  bool memory_usable() const;
};

using Commands = std::vector<Command>;

/// The handles of a job's list and queue, for messages.
struct JobOrigin {
  const void* list = nullptr;
  const void* queue = nullptr;
};

/// One submission of a list's commands. The engine's thread steps through them; all others wait and
/// ask.
class Job {
 public:
  /// `faulted`, which may be null, becomes true when a command writes to read-only memory.
  explicit Job(std::shared_ptr<const Commands> commands, JobOrigin origin = {},
               std::shared_ptr<std::atomic<bool>> faulted = nullptr)
      : commands_(std::move(commands)), origin_(origin), faulted_(std::move(faulted)) {}

  /// Tells the commands' events that this job, which `self` owns, will signal them. Call it before
  /// the submission.
  void announce(const std::shared_ptr<Job>& self) const;

  /// Only for the engine's thread.
  const Command& next() const { return (*commands_)[position_]; }
  bool waits_for_events() const;
  bool finished() const { return position_ == commands_->size(); }
  /// Whether `test` holds for any command. Not once the job may be completing.
  template <class Test>
  bool has_command(const Test& test) const {
    return std::any_of(commands_->begin(), commands_->end(), test);
  }
  /// Runs the next command. After a failure the rest only signals its events.
  void step();
  /// Only signals the events of the commands that are left, and completes.
  void abort(ze_result_t result);
  /// Releases the commands first: a thread that waited for the job finds its memory free.
  void complete() {
    commands_.reset();
    done_.set();
  }

  /// For all other threads.
  bool done() const { return done_.is_set(); }
  /// True until the device has run the last command; that command's event is signalled later.
  bool in_flight() const { return !ran_.load(std::memory_order_acquire); }
  /// "job 7 of list 0x... on queue 0x..."
  std::string text() const;
  bool wait(Deadline deadline) const { return done_.wait(deadline); }
  /// Meaningful once done: SUCCESS or the error that a fence reports.
  ze_result_t result() const { return result_; }

 private:
  static uint64_t next_number();
  ze_result_t attempt(const Command& command) const;

  std::shared_ptr<const Commands> commands_;
  const JobOrigin origin_;
  const uint64_t number_ = next_number();
  std::shared_ptr<std::atomic<bool>> faulted_;
  std::atomic<bool> ran_{false};
  size_t position_ = 0;
  ze_result_t result_ = ZE_RESULT_SUCCESS;
  Completion done_;
};

using Jobs = std::vector<std::shared_ptr<Job>>;

/// Null if there is none.
std::shared_ptr<Job> first_in_flight(const Jobs& jobs);

/// Waits for all. NOT_READY if the deadline comes first, else the first job's error, else SUCCESS.
ze_result_t wait_for(const Jobs& jobs, Deadline deadline);

}  // namespace softnpu
