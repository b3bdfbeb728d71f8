// zeCommandQueue*.
#include "queue.hpp"

#include <algorithm>

#include "api.hpp"
#include "config.hpp"
#include "device.hpp"
#include "extensions.hpp"
#include "fault.hpp"
#include "fence.hpp"
#include "handles.hpp"
#include "list.hpp"
#include "trace.hpp"

namespace softnpu {
namespace {

constexpr size_t kJobRing = 62;  // jobs that the kernel driver's ring takes per queue
constexpr uint64_t kBusyPatienceNs = 2'000'000'000;

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

// One submission of one list; throws when the list or the queue stays busy.
std::shared_ptr<Job> execute(CommandQueue& queue, CommandList& list) {
  auto job = list.submit_once_idle(Deadline::after(kBusyPatienceNs),
                                   [&queue](std::shared_ptr<const Commands> commands) {
                                     return queue.submit(std::move(commands));
                                   });
  if (!job) throw Failure(ZE_RESULT_ERROR_UNKNOWN, "the list or its queue stayed busy for 2 s");
  return job;
}

void check_lists(uint32_t count, ze_command_list_handle_t* lists) {
  require(count != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  require(lists != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  for (uint32_t i = 0; i < count; ++i) {
    auto& list = object_of<CommandList>(lists[i], ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    require(!list.immediate(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    require(list.closed(), ZE_RESULT_ERROR_UNINITIALIZED);
  }
}

}  // namespace

CommandQueue::CommandQueue(Context& context, const ze_command_queue_desc_t& desc)
    : context_(context),
      mode_(desc.mode),
      priority_(priority_of(desc.priority)),
      lane_(std::make_shared<Lane>(priority_)) {}

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

std::shared_ptr<Job> CommandQueue::submit(std::shared_ptr<const Commands> commands) {
  const std::lock_guard lock(mutex_);
  if (!make_room()) return nullptr;
  auto job = std::make_shared<Job>(std::move(commands), context_.poison_mark());
  job->announce(job);
  jobs_.push_back(job);
  if (config().execution == Execution::kNull) {
    Engine::instance().submit_or_run(lane_, job);
  } else {
    Engine::instance().submit(lane_, job);
  }
  return job;
}

ze_result_t CommandQueue::synchronize(Deadline deadline) {
  Jobs jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs = jobs_;
  }
  const ze_result_t result = wait_for(jobs, deadline);
  if (result == ZE_RESULT_NOT_READY) return result;
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [](const auto& job) { return job->done(); });
  return result;
}

void CommandQueue::set_background(bool background) {
  Engine::instance().set_priority(*lane_, background ? Priority::kBackground : priority_);
}

void fault::poison_context_of(ze_command_queue_handle_t queue) {
  if (queue != nullptr) object_of<CommandQueue>(queue).context().poison();
}

ze_result_t command_queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_command_queue_desc_t* desc,
                                 ze_command_queue_handle_t* queue) {
  auto& owner = object_of<Context>(context);
  check_device(device);
  require(desc != nullptr && queue != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->ordinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  require(desc->mode <= ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS &&
              desc->priority <= ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
  check_queue_options(*desc);
  trace::note("priority", desc->priority);
  hand_out(std::make_unique<CommandQueue>(owner, *desc), queue);
  trace::note_pointer("created", *queue);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_destroy(ze_command_queue_handle_t queue) {
  take_back<CommandQueue>(queue);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_execute_command_lists(ze_command_queue_handle_t queue, uint32_t count,
                                                ze_command_list_handle_t* lists,
                                                ze_fence_handle_t fence) {
  auto& target = object_of<CommandQueue>(queue);
  check_lists(count, lists);
  if (target.context().poisoned())
    throw Failure(ZE_RESULT_ERROR_UNKNOWN, "the context is lost: a fault of the device's MMU");
  Jobs jobs;
  for (uint32_t i = 0; i < count; ++i) {
    auto& list = object_of<CommandList>(lists[i]);
    trace::note_pointer("list", &list);
    if (!list.empty()) jobs.push_back(execute(target, list));
  }
  const ze_result_t result =
      target.synchronous() ? wait_for(jobs, Deadline::after(UINT64_MAX)) : ZE_RESULT_SUCCESS;
  if (fence != nullptr) {
    auto& tracker = object_of<Fence>(fence);
    // As in Intel's driver the jobs are on their way by now.
    require(&tracker.queue() == &target, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    tracker.track(std::move(jobs));
  }
  return result;
}

ze_result_t command_queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout_ns) {
  return object_of<CommandQueue>(queue).synchronize(Deadline::after(timeout_ns));
}

ze_result_t command_queue_get_ordinal(ze_command_queue_handle_t queue, uint32_t* ordinal) {
  object_of<CommandQueue>(queue);
  require(ordinal != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *ordinal = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_get_index(ze_command_queue_handle_t queue, uint32_t* index) {
  object_of<CommandQueue>(queue);
  require(index != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *index = 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
