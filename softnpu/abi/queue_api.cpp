// zeCommandQueue*.
#include <ze_npu/ze_npu.h>

#include "base/trace.hpp"
#include "machine/context.hpp"
#include "machine/fence.hpp"
#include "machine/in_use.hpp"
#include "machine/list.hpp"
#include "machine/queue.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

// Checks the NPU options chained to a queue's description; throws the result of Intel's driver.
void check_queue_options(const ze_command_queue_desc_t& desc) {
  const auto* const first = static_cast<const ze_command_queue_desc_npu_ext_t*>(desc.pNext);
  if (first != nullptr && first->stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT) {
    trace::note("turbo", first->turbo ? 1 : 0);
  }
  if (first == nullptr || first->stype != ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2) return;
  const auto* const options = static_cast<const ze_command_queue_desc_npu_ext_2_t*>(desc.pNext);
  // Every queue of this device runs its lists in order, so DEVICE_SYNC changes nothing.
  const bool device_sync = (options->options & ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC) != 0;
  require(!device_sync || desc.mode != ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
  // Turbo is about clocks, which this device does not have. As in Intel's driver, DEVICE_SYNC wins.
  const bool turbo = !device_sync && (options->options & ZE_NPU_COMMAND_QUEUE_OPTION_TURBO) != 0;
  trace::note("turbo", turbo ? 1 : 0);
  trace::note("device_sync", device_sync ? 1 : 0);
}

// Submits one list once; throws if the list or the queue stays busy.
std::shared_ptr<Job> execute(CommandQueue& queue, CommandList& list) {
  auto job = list.submit_once_idle(Deadline::after(kBusyPatienceNs),
                                   [&](std::shared_ptr<const Commands> commands) {
                                     return queue.submit(std::move(commands), &list);
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
  check_not_in_use("queue", queue, object_of<CommandQueue>(queue).user());
  take_back<CommandQueue>(queue);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_execute_command_lists(ze_command_queue_handle_t queue, uint32_t count,
                                                ze_command_list_handle_t* lists,
                                                ze_fence_handle_t fence) {
  auto& target = object_of<CommandQueue>(queue);
  check_lists(count, lists);
  if (target.context().poisoned()) {
    throw Failure(ZE_RESULT_ERROR_UNKNOWN, "the context is lost: a fault of the device's MMU");
  }
  Jobs jobs;
  for (uint32_t i = 0; i < count; ++i) {
    auto& list = object_of<CommandList>(lists[i]);
    trace::note_pointer("list", &list);
    if (!list.empty()) {
      jobs.push_back(execute(target, list));
    }
  }
  const ze_result_t result =
      target.synchronous() ? wait_for(jobs, Deadline::after(UINT64_MAX)) : ZE_RESULT_SUCCESS;
  if (fence != nullptr) {
    auto& tracker = object_of<Fence>(fence);
    // As in Intel's driver, the jobs are submitted before this check.
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
