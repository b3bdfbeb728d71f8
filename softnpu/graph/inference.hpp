// One recorded inference of a graph: its arguments as they were at the append and as they were
// changed since, and the executor that computes on them.
#pragma once

#include <memory>
#include <vector>

#include "argument_value.hpp"
#include "executor.hpp"
#include "memory.hpp"

namespace softnpu {

class Context;
struct Command;

class Inference {
 public:
  // Throws UNINITIALIZED when a value is missing, is no memory of `context`, or is too small.
  // `program` and `profile` may be null.
  Inference(Context& context, std::shared_ptr<Program> program, std::vector<Argument> arguments,
            std::vector<ArgumentValue> values, std::shared_ptr<ProfilingData> profile);

  // The command that runs `self`.
  static Command command_of(std::shared_ptr<Inference> self);

  // Throws INVALID_ARGUMENT for an index that no argument has.
  const Argument& argument(uint32_t index) const;
  // Takes effect, and is checked, when `settle` is called.
  void change(uint32_t index, const ArgumentValue& value);
  // Adds the graph's inputs, and where they lie, to the trace line of the call that submits it.
  void trace_inputs() const;
  // Before a submission, with no other in flight: puts the changed values in place, also in
  // `command`, which runs this. Throws UNKNOWN for a value that is no memory of `context` or is too
  // small; it then stays a change.
  void settle(Context& context, Command& command);

 private:
  struct Change {
    uint32_t index;
    ArgumentValue value;
  };
  using Memory = std::shared_ptr<Allocation>;

  Memory memory_of(Context& context, uint32_t index, const ArgumentValue& value,
                   ze_result_t if_foreign) const;
  void name_memory(Command& command) const;

  const std::vector<Argument> arguments_;
  std::vector<Memory> memory_;          // one for every argument
  std::vector<const void*> addresses_;  // inside it
  std::unique_ptr<Executor> executor_;
  std::shared_ptr<ProfilingData> profile_;
  std::vector<Change> changes_;
};

}  // namespace softnpu
