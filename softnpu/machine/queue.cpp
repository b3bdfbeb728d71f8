#include "queue.hpp"

#include <algorithm>

#include "base/config.hpp"
#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr size_t kJobRing = 62;  // limit of jobs per queue in the kernel driver's ring

Priority priority_of(ze_command_queue_priority_t priority) {
  switch (priority) {
    case ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW:
      return Priority::kIdle;
    case ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH:
      return Priority::kRealtime;
    default:
      return Priority::kNormal;
  }
}

}  // namespace

CommandQueue::CommandQueue(Context& context, const ze_command_queue_desc_t& desc)
    : context_(context),
      mode_(desc.mode),
      priority_(priority_of(desc.priority)),
      lane_(std::make_shared<Lane>(priority_)) {
  if (!context.take_queue_place()) {
    throw Failure(ZE_RESULT_ERROR_UNINITIALIZED, "the context has 255 command queues already");
  }
}

bool CommandQueue::make_room() {
  const auto done_well = [](const auto& job) {
    return job->done() && job->result() == ZE_RESULT_SUCCESS;
  };
  std::erase_if(jobs_, done_well);
  if (jobs_.size() < kJobRing) return true;
  const auto running =
      std::find_if(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job->done(); });
  if (running != jobs_.end() && !(*running)->wait(Deadline::after(kBusyPatienceNs))) return false;
  std::erase_if(jobs_, [](const auto& job) { return job->done(); });
  return true;
}

std::shared_ptr<Job> CommandQueue::submit(std::shared_ptr<const Commands> commands,
                                          const void* list) {
  const std::scoped_lock lock(mutex_);
  if (!make_room()) return nullptr;
  auto job =
      std::make_shared<Job>(std::move(commands), JobOrigin{list, this}, context_.poison_mark());
  job->announce(job);
  jobs_.push_back(job);
  try {
    if (config().execution == Execution::kNull) {
      Engine::instance().submit_or_run(lane_, job);
    } else {
      Engine::instance().submit(lane_, job);
    }
  } catch (...) {  // the engine's thread could not start
    jobs_.pop_back();
    job->abort(ZE_RESULT_ERROR_UNKNOWN);
    throw;
  }
  return job;
}

ze_result_t CommandQueue::synchronize(Deadline deadline) {
  Jobs jobs;
  {
    const std::scoped_lock lock(mutex_);
    jobs = jobs_;
  }
  const ze_result_t result = wait_for(jobs, deadline);
  if (result == ZE_RESULT_NOT_READY) return result;
  const std::scoped_lock lock(mutex_);
  std::erase_if(jobs_, [](const auto& job) { return job->done(); });
  return result;
}

std::shared_ptr<Job> CommandQueue::user() {
  const std::scoped_lock lock(mutex_);
  return first_in_flight(jobs_);
}

void CommandQueue::set_background(bool background) {
  Engine::instance().set_priority(*lane_, background ? Priority::kBackground : priority_);
}

}  // namespace softnpu
