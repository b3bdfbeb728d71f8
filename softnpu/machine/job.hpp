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

/// What a command of a graph works on: it can be changed between two submissions.
class Work {
 public:
  virtual ~Work() = default;
  /// Adds what it reads, and where that lies, to the trace line of the call that submits it.
  virtual void trace_inputs() const = 0;
  /// Before a submission, with no other in flight: puts the changed values in place, also in
  /// `command`, which runs this. Throws UNKNOWN for a value that is no memory of `context` or is
  /// too small; it then stays a change.
  virtual void settle(Context& context, Command& command) = 0;
};

struct Command {
  /// May throw: the job fails. Empty: the command only waits or signals.
  std::function<void()> run;
  std::vector<std::shared_ptr<EventState>> waits;   ///< all signalled before the command runs
  std::shared_ptr<EventState> signals;              ///< null for none
  std::vector<std::shared_ptr<Allocation>> memory;  ///< kept alive by the command
  std::vector<const Allocation*> written;  ///< those of `memory` that the command writes to
  std::shared_ptr<Work> work;              ///< of a graph, else null
  const void* graph = nullptr;             ///< the graph that it executes, for comparison only
  std::shared_ptr<const GemHandle> code;   ///< of that graph's own memory

  bool ready() const;
  bool memory_usable() const;
};

using Commands = std::vector<Command>;

/// The handles of what a job belongs to, for messages.
struct JobOrigin {
  const void* list = nullptr;
  const void* queue = nullptr;
};

/// One submission of a list's commands. The engine's thread steps through them; everybody else
/// waits and asks.
class Job {
 public:
  /// `faulted`, which may be null, becomes true when a command writes where the device may not.
  explicit Job(std::shared_ptr<const Commands> commands, JobOrigin origin = {},
               std::shared_ptr<std::atomic<bool>> faulted = nullptr)
      : commands_(std::move(commands)), origin_(origin), faulted_(std::move(faulted)) {}

  /// Tells the events of the commands that this job, which `self` owns, will signal them; before
  /// the submission.
  void announce(const std::shared_ptr<Job>& self) const;

  /// For the engine's thread.
  const Command& next() const { return (*commands_)[position_]; }
  bool waits_for_events() const;
  bool finished() const { return position_ == commands_->size(); }
  /// `test` of the commands: not once the job may be completing.
  template <class Test>
  bool has_command(const Test& test) const {
    return std::any_of(commands_->begin(), commands_->end(), test);
  }
  /// Runs the next command. After a failure the rest only signals its events.
  void step();
  /// Does no more than to signal the events of the commands that are left, and completes.
  void abort(ze_result_t result);
  /// Lets go of the commands first: who waited for the job finds its memory given back.
  void complete() {
    commands_.reset();
    done_.set();
  }

  /// For everybody else.
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

/// Null where none is.
std::shared_ptr<Job> first_in_flight(const Jobs& jobs);

/// Waits for all; NOT_READY when the deadline comes first, else the first job's error, else
/// SUCCESS.
ze_result_t wait_for(const Jobs& jobs, Deadline deadline);

}  // namespace softnpu
