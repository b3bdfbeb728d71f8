#include "queue.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"

#include "recording.hpp"
#include "result.hpp"

namespace npu::ze {
namespace {

ze_command_queue_priority_t native(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    case Priority::kHigh:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
    case Priority::kMedium:
      break;
  }
  return ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

/// Whether the device can run one list after the other.
bool has_device_sync(const DeviceContext& device) {
  return device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 1);
}

CommandQueue make_queue(const DeviceContext& device, const QueueOptions& options) {
  const bool device_sync = options.sequential && has_device_sync(device);
  ze_command_queue_desc_npu_ext_t options_1_0 = {};
  options_1_0.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT;
  options_1_0.turbo = true;
  ze_command_queue_desc_npu_ext_2_t options_1_1 = {};
  options_1_1.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2;
  options_1_1.options =
      device_sync ? ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC : ZE_NPU_COMMAND_QUEUE_OPTION_TURBO;

  ze_command_queue_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.ordinal = device.queue_ordinal;
  desc.mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
  desc.priority = native(options.priority);
  if (options.turbo || device_sync) {
    if (device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 1)) {
      desc.pNext = &options_1_1;
    } else if (device.npu.has_extension(ZE_COMMAND_QUEUE_NPU_EXT_NAME, 1, 0)) {
      desc.pNext = &options_1_0;
    } else {
      base::log(LogLevel::kWarning, "turbo is ignored: this driver has no turbo queues");
    }
  }
  if (options.turbo && device_sync) {
    base::log(LogLevel::kWarning,
              "turbo is ignored: a queue that runs inferences one after the other has no turbo");
  }
  ze_command_queue_handle_t handle = nullptr;
  device.check(
      device.loader.zeCommandQueueCreate(device.context.get(), device.npu.device, &desc, &handle),
      "zeCommandQueueCreate",
      "a process may have 255 command queues on an NPU, and an older kernel driver serves 64 "
      "processes in all: destroy compiled models that are no longer needed, or share one");
  return {device.loader, handle};
}

}  // namespace

Queue::Queue(const DeviceContext& device, const QueueOptions& options)
    : device_(device), handle_(make_queue(device, options)), in_flight_(device) {
  if (options.workload) {
    set_workload(*options.workload);
  }
  if (options.sequential && !has_device_sync(device)) {
    chain_ = std::make_unique<Chain>(device, kPlaces);
  }
}

void Queue::set_workload(WorkloadType type) const {
  const auto* table = static_cast<const ze_command_queue_npu_dditable_ext_t*>(
      device_.npu.extension_table(ZE_COMMAND_QUEUE_NPU_EXT_NAME));
  if (!table) {
    throw Error(
        ErrorCode::kUnsupported,
        base::text(
            "the driver of ", device_.npu.name(),
            " has no workload types (zeDriverGetExtensionFunctionAddress gives no table for ",
            ZE_COMMAND_QUEUE_NPU_EXT_NAME, "): leave WORKLOAD_TYPE alone"));
  }
  const auto wanted =
      type == WorkloadType::kEfficient ? ZE_WORKLOAD_TYPE_BACKGROUND : ZE_WORKLOAD_TYPE_DEFAULT;
  device_.check(table->pfnSetWorkloadType(handle_.get(), wanted), "pfnSetWorkloadType");
}

void Queue::take_places(Submission& submission) {
  submission.renew_fence(device_, handle_);
  in_flight_.enter(submission);
}

/// With a chain: a list that has a place also has a free event.
void Queue::submit(Recording& recording, Submission& submission) {
  if (!chain_) [[likely]] {
    return execute(recording, submission);
  }
  std::scoped_lock lock(chain_->mutex());
  recording.record_in(*chain_);
  execute(recording, submission);
  chain_->advance(submission.lists());
}

void Queue::execute(Recording& recording, Submission& submission) {
  const auto lists = recording.lists();
  const ze_result_t result = device_.loader.zeCommandQueueExecuteCommandLists(
      handle_.get(), static_cast<std::uint32_t>(lists.size()), lists.data(), submission.fence());
  if (result != ZE_RESULT_SUCCESS) [[unlikely]] {
    fail(submission, result, "zeCommandQueueExecuteCommandLists");
  }
}

bool Queue::wait(Submission& submission, std::uint64_t timeout_ns) {
  const bool for_ever = timeout_ns == kNoTimeout;
  ze_result_t result = ZE_RESULT_NOT_READY;
  do {
    const std::uint64_t look_ns = std::min(timeout_ns, kLookNs);
    result = submission.lookout().wait(device_, submission.fence(), look_ns);
    timeout_ns -= for_ever ? 0 : look_ns;
  } while (result == ZE_RESULT_NOT_READY && timeout_ns != 0);
  if (result == ZE_RESULT_NOT_READY) return false;
  const bool failed = result != ZE_RESULT_SUCCESS;
  if (failed && error_code(result) != ErrorCode::kDeviceLost) [[unlikely]] {
    wait_out(submission);
  }
  submission.lookout().reset();
  in_flight_.leave(submission);
  const ze_result_t reset = submission.reset_fence(device_);
  if (failed) [[unlikely]] {
    fail(submission, result, "zeFenceHostSynchronize");
  }
  device_.check(reset, "zeFenceReset");
  return true;
}

/// Waits on after a wait that failed: unless the device is lost, the execution may go on.
void Queue::wait_out(Submission& submission) const {
  while (submission.lookout().wait(device_, submission.fence(), kLookNs) == ZE_RESULT_NOT_READY) {
  }
}

void Queue::fail(const Submission& submission, ze_result_t result, const char* call) const {
  const ErrorCode code = device_.judge_execution(result);
  const char* when_lost = code == ErrorCode::kDeviceLost
                              ? "; this inference is lost, the next one loads the model again"
                              : "";
  throw make_error(code, result, call, submission.what() + when_lost);
}

}  // namespace npu::ze
