#include "list.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "base/trace.hpp"

namespace softnpu {
namespace {

void trace_inputs(const Commands& commands) {
  if (!trace::enabled()) return;
  for (const Command& command : commands) {
    if (command.work) {
      command.work->trace_inputs();
    }
  }
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
  const auto job = queue_->submit(std::move(commands), this);
  require(job != nullptr, ZE_RESULT_ERROR_UNKNOWN);
  if (!queue_->synchronous()) return;
  job->wait(for_ever);
  require(job->result() == ZE_RESULT_SUCCESS, job->result());
}

void CommandList::close() {
  require(!immediate(), ZE_RESULT_ERROR_UNINITIALIZED);
  if (!buffer_) {
    buffer_.emplace();
  }
  closed_ = true;
}

void CommandList::reset() {
  if (immediate()) return;
  // New, because a submission still holds the old commands.
  commands_ = std::make_shared<Commands>();
  named_.clear();
  buffer_.reset();
  closed_ = false;
}

ze_result_t CommandList::synchronize(Deadline deadline) {
  require(immediate(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return queue_->synchronize(deadline);
}

std::shared_ptr<Job> CommandList::user() {
  if (immediate()) return queue_->user();
  const std::scoped_lock lock(mutex_);
  return last_ && last_->in_flight() ? last_ : nullptr;
}

std::shared_ptr<Job> CommandList::submit_once_idle(Deadline deadline, const Submit& submit) {
  const std::scoped_lock lock(mutex_);
  if (last_ && !last_->wait(deadline)) return nullptr;
  if (changeable_) {
    settle_changes();
  }
  const bool usable = (!buffer_ || buffer_->open()) &&
                      std::all_of(commands_->begin(), commands_->end(),
                                  [](const Command& command) { return command.memory_usable(); });
  if (!usable) {
    throw Failure(
        ZE_RESULT_ERROR_UNKNOWN,
        "memory of the list is lost: another import of its DMA-BUF was freed, or a child of "
        "this process freed it");
  }
  trace_inputs(*commands_);
  last_ = submit(commands_);
  return last_;
}

uint64_t CommandList::next_command_id() {
  require(changeable_ && !closed_, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const size_t position = commands_->size();
  if (named_.empty() || named_.back() != position) {
    named_.push_back(position);
  }
  return position + 1;  // 0 names nothing
}

Work& CommandList::named_work(uint64_t id) const {
  require(id != 0 && std::binary_search(named_.begin(), named_.end(), id - 1) &&
              id - 1 < commands_->size(),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto& work = (*commands_)[id - 1].work;
  require(work != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return *work;
}

void CommandList::settle_changes() {
  for (const size_t position : named_) {
    if (position >= commands_->size()) continue;
    Command& command = (*commands_)[position];
    if (command.work) {
      command.work->settle(context_, command);
    }
  }
}

}  // namespace softnpu
