#pragma once

#include <level_zero/ze_api.h>

#include <mutex>

#include "base/live_objects.hpp"

#include "job.hpp"

namespace softnpu {

class CommandQueue;

/// Signalled when all jobs of the submission that it tracks are done, whatever became of them.
class Fence : Counted<Kind::kFence> {
 public:
  Fence(CommandQueue& queue, bool signalled) : queue_(queue), signalled_(signalled) {}

  CommandQueue& queue() const { return queue_; }
  /// Does not clear a signal that is already there: a fence used again without a reset reports at
  /// once.
  void track(Jobs jobs);
  ze_result_t wait(Deadline deadline);
  void reset();
  /// A job that it tracks and that is in flight, null for none.
  std::shared_ptr<Job> user();

 private:
  CommandQueue& queue_;
  std::mutex mutex_;  // guards all below
  bool submitted_ = false;
  bool signalled_;
  ze_result_t result_ = ZE_RESULT_SUCCESS;  // of the jobs, once signalled
  Jobs jobs_;
};

}  // namespace softnpu
