#pragma once

#include <level_zero/ze_api.h>

#include <mutex>

#include "base/live_objects.hpp"

#include "job.hpp"

namespace softnpu {

class CommandQueue;

/// Signals when all jobs of the submission that it tracks are done, with or without success.
class Fence : Counted<Kind::kFence> {
 public:
  Fence(CommandQueue& queue, bool signalled) : queue_(queue), signalled_(signalled) {}

  CommandQueue& queue() const { return queue_; }
  /// Does not clear an earlier signal: a fence used again without a reset reports at once.
  void track(Jobs jobs);
  ze_result_t wait(Deadline deadline);
  void reset();
  /// A tracked job that is in flight, null if there is none.
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
