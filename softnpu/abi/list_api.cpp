// zeCommandList*, without the appends.
#include "list.hpp"

#include <ze_npu/ze_npu.h>

#include <algorithm>

#include "api.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "inference.hpp"
#include "trace.hpp"

namespace softnpu {
namespace {

bool asks_for_changes(const ze_command_list_desc_t& desc) {
  const auto* const first =
      static_cast<const ze_npu_core_mutable_command_list_exp_desc_t*>(desc.pNext);
  return first != nullptr && first->stype == kZeNpuCoreStypeMutableCommandListExpDesc;
}

void trace_inputs(const Commands& commands) {
  if (!trace::enabled()) return;
  for (const Command& command : commands)
    if (command.inference) command.inference->trace_inputs();
}

}  // namespace

void CommandList::check_open() const {
  require(!closed_, ZE_RESULT_ERROR_NOT_AVAILABLE);
}

void CommandList::append(Command command) {
  check_open();
  if (!immediate()) {
    commands_->push_back(std::move(command));
    return;
  }
  const Deadline for_ever = Deadline::after(UINT64_MAX);
  queue_->synchronize(for_ever);
  require(command.memory_usable() && !context_.poisoned(), ZE_RESULT_ERROR_UNKNOWN);
  auto commands = std::make_shared<Commands>();
  commands->push_back(std::move(command));
  trace_inputs(*commands);
  const auto job = queue_->submit(std::move(commands));
  require(job != nullptr, ZE_RESULT_ERROR_UNKNOWN);
  if (!queue_->synchronous()) return;
  job->wait(for_ever);
  require(job->result() == ZE_RESULT_SUCCESS, job->result());
}

void CommandList::close() {
  require(!immediate(), ZE_RESULT_ERROR_UNINITIALIZED);
  closed_ = true;
}

void CommandList::reset() {
  if (immediate()) return;
  // A submission still holds the old commands.
  commands_ = std::make_shared<Commands>();
  named_.clear();
  closed_ = false;
}

ze_result_t CommandList::synchronize(Deadline deadline) {
  require(immediate(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return queue_->synchronize(deadline);
}

std::shared_ptr<Job> CommandList::submit_once_idle(Deadline deadline, const Submit& submit) {
  const std::lock_guard lock(mutex_);
  if (last_ && !last_->wait(deadline)) return nullptr;
  if (changeable_) settle_changes();
  const bool usable = std::all_of(commands_->begin(), commands_->end(),
                                  [](const Command& command) { return command.memory_usable(); });
  if (!usable)
    throw Failure(ZE_RESULT_ERROR_UNKNOWN,
                  "memory of the list was lost when another import of its DMA-BUF was freed");
  trace_inputs(*commands_);
  last_ = submit(commands_);
  return last_;
}

uint64_t CommandList::next_command_id() {
  require(changeable_ && !closed_, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const size_t position = commands_->size();
  if (named_.empty() || named_.back() != position) named_.push_back(position);
  return position + 1;  // 0 names nothing
}

Inference& CommandList::mutable_inference(uint64_t id) const {
  require(id != 0 && std::binary_search(named_.begin(), named_.end(), id - 1) &&
              id - 1 < commands_->size(),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto& inference = (*commands_)[id - 1].inference;
  require(inference != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return *inference;
}

void CommandList::settle_changes() {
  for (const size_t position : named_) {
    if (position >= commands_->size()) continue;
    Command& command = (*commands_)[position];
    if (command.inference) command.inference->settle(context_, command);
  }
}

void set_events(Command& command, ze_event_handle_t signal, uint32_t wait_count,
                ze_event_handle_t* waits) {
  require(wait_count == 0 || waits != nullptr, ZE_RESULT_ERROR_INVALID_SIZE);
  for (uint32_t i = 0; i < wait_count; ++i) command.waits.push_back(event_state(waits[i]));
  if (signal != nullptr) command.signals = event_state(signal);
}

ze_result_t command_list_create(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t* desc,
                                ze_command_list_handle_t* list) {
  auto& owner = object_of<Context>(context);
  check_device(device);
  require(desc != nullptr && list != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->commandQueueGroupOrdinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  hand_out(std::make_unique<CommandList>(owner, asks_for_changes(*desc)), list);
  trace::note_pointer("created", *list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t* desc,
                                          ze_command_list_handle_t* list) {
  auto& owner = object_of<Context>(context);
  check_device(device);
  require(desc != nullptr && list != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->ordinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  hand_out(std::make_unique<CommandList>(owner, *desc), list);
  trace::note_pointer("created", *list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_destroy(ze_command_list_handle_t list) {
  take_back<CommandList>(list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_close(ze_command_list_handle_t list) {
  object_of<CommandList>(list).close();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_reset(ze_command_list_handle_t list) {
  object_of<CommandList>(list).reset();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_host_synchronize(ze_command_list_handle_t list, uint64_t timeout_ns) {
  return object_of<CommandList>(list).synchronize(Deadline::after(timeout_ns));
}

ze_result_t command_list_get_device_handle(ze_command_list_handle_t list,
                                           ze_device_handle_t* device) {
  object_of<CommandList>(list);
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *device = the_device();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_context_handle(ze_command_list_handle_t list,
                                            ze_context_handle_t* context) {
  auto& own = object_of<CommandList>(list);
  require(context != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *context = reinterpret_cast<ze_context_handle_t>(&own.context());
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_ordinal(ze_command_list_handle_t list, uint32_t* ordinal) {
  object_of<CommandList>(list);
  require(ordinal != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *ordinal = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_is_immediate(ze_command_list_handle_t list, ze_bool_t* immediate) {
  auto& own = object_of<CommandList>(list);
  require(immediate != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *immediate = own.immediate() ? 1 : 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu
