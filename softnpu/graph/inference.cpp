#include "inference.hpp"

#include <string>

#include "base/failure.hpp"
#include "base/status.hpp"
#include "base/trace.hpp"
#include "machine/context.hpp"

namespace softnpu {

Inference::Inference(Context& context, std::shared_ptr<Program> program,
                     std::vector<Argument> arguments, std::vector<ArgumentValue> values,
                     std::shared_ptr<ProfilingData> profile)
    : arguments_(std::move(arguments)), profile_(std::move(profile)) {
  for (uint32_t i = 0; i < arguments_.size(); ++i) {
    memory_.push_back(memory_of(context, i, values[i], ZE_RESULT_ERROR_UNINITIALIZED));
  }
  values_ = values;
  for (const ArgumentValue& value : values) places_.push_back(value.pointer);
  executor_ = make_executor(std::move(program), arguments_, std::move(values));
}

Inference::Memory Inference::memory_of(Context& context, uint32_t index, const ArgumentValue& value,
                                       ze_result_t if_foreign) const {
  trace::note_pointer("argument", value.pointer);
  const size_t size_bytes = extent_bytes(arguments_[index], value);
  auto memory = value.pointer != nullptr
                    ? context.allocations().find_range(value.pointer, size_bytes)
                    : nullptr;
  if (memory) return memory;
  throw Failure(if_foreign, "argument " + std::to_string(index) + " (" + arguments_[index].name +
                                ") is not set to memory of this context with " +
                                std::to_string(size_bytes) + " bytes");
}

Command Inference::command_of(std::shared_ptr<Inference> self) {
  Command command;
  self->name_memory(command);
  command.work = self;
  command.run = [self = std::move(self)] {
    self->follow_memory();
    self->executor_->run(self->profile_.get());
    Status::of_process().count_inference();
  };
  return command;
}

// Imported pages stay the device's after the application has unmapped them.
void Inference::follow_memory() {
  for (size_t i = 0; i < memory_.size(); ++i) {
    void* const place = memory_[i]->on_device(values_[i].pointer);
    if (place == places_[i]) continue;
    places_[i] = place;
    executor_->bind(i, {place, values_[i].strides});
  }
}

void Inference::name_memory(Command& command) const {
  command.memory = memory_;
  command.written.clear();
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].type == ZE_GRAPH_ARGUMENT_TYPE_OUTPUT) {
      command.written.push_back(memory_[i].get());
    }
  }
}

const Argument& Inference::argument(uint32_t index) const {
  require(index < arguments_.size(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return arguments_[index];
}

void Inference::change(uint32_t index, const ArgumentValue& value) {
  for (Change& earlier : changes_) {
    if (earlier.index != index) continue;
    earlier.value = value;
    return;
  }
  changes_.push_back({index, value});
}

void Inference::trace_inputs() const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].type != ZE_GRAPH_ARGUMENT_TYPE_INPUT) continue;
    const Allocation& memory = *memory_[i];
    trace::Fields fields;
    fields.number("index", i)
        .text("name", arguments_[i].name)
        .number("bytes", arguments_[i].size_bytes)
        .number("offset", static_cast<uint64_t>(static_cast<const std::byte*>(values_[i].pointer) -
                                                memory.base()))
        .number("allocation_bytes", memory.size_bytes())
        .flag("imported", memory.imported());
    if (memory.inode() != 0) {
      fields.number("inode", memory.inode());
    }
    trace::note_item("inputs", fields);
  }
}

void Inference::settle(Context& context, Command& command) {
  if (changes_.empty()) return;
  for (const Change& change : changes_) {
    memory_[change.index] = memory_of(context, change.index, change.value, ZE_RESULT_ERROR_UNKNOWN);
    values_[change.index] = change.value;
    places_[change.index] = change.value.pointer;
    executor_->bind(change.index, change.value);
  }
  changes_.clear();
  name_memory(command);
}

}  // namespace softnpu
