#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>

#include "base/live_objects.hpp"

#include "context.hpp"
#include "engine.hpp"
#include "job.hpp"

namespace softnpu {

/// Longest wait of a submission for a busy list or queue.
inline constexpr uint64_t kBusyPatienceNs = 2'000'000'000;

/// Submits jobs in order, at most as many at a time as the kernel driver's ring holds.
class CommandQueue : Counted<Kind::kQueue> {
 public:
  /// Throws Failure(UNINITIALIZED), as Intel's driver has it, where the context has no place.
  CommandQueue(Context& context, const ze_command_queue_desc_t& desc);
  ~CommandQueue() { context_.give_queue_place(); }

  Context& context() const { return context_; }
  bool synchronous() const { return mode_ == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS; }

  /// Null if the queue stays full for longer than kBusyPatienceNs. `list` is for messages.
  std::shared_ptr<Job> submit(std::shared_ptr<const Commands> commands, const void* list);
  /// A job of this queue in flight, null if there is none.
  std::shared_ptr<Job> user();
  ze_result_t synchronize(Deadline deadline);
  /// Background work goes behind everything else; default work has the priority that the queue was
  /// made with.
  void set_background(bool background);

 private:
  /// Waits for room and forgets the jobs that succeeded.
  bool make_room();

  Context& context_;
  ze_command_queue_mode_t mode_;
  Priority priority_;
  std::shared_ptr<Lane> lane_;
  std::mutex mutex_;  // guards jobs_
  Jobs jobs_;         // submitted since the last synchronize, without those that succeeded long ago
};

}  // namespace softnpu
