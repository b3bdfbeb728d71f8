#pragma once

#include <memory>
#include <vector>

#include "machine/job.hpp"
#include "machine/memory.hpp"

#include "argument_value.hpp"
#include "executor.hpp"

namespace softnpu {

/// One recorded inference of a graph: its arguments, as appended or changed since, and the executor
/// that computes on them.
class Inference : public Work {
 public:
  /// Throws UNINITIALIZED if a value is missing, is not memory of `context`, or is too small.
  /// `program` and `profile` may be null.
  Inference(Context& context, std::shared_ptr<Program> program, std::vector<Argument> arguments,
            std::vector<ArgumentValue> values, std::shared_ptr<ProfilingData> profile);

  /// The command that runs `self`.
  static Command command_of(std::shared_ptr<Inference> self);

  /// Throws INVALID_ARGUMENT for an index that no argument has.
  const Argument& argument(uint32_t index) const;
  /// Takes effect, after a check, at `settle`.
  void change(uint32_t index, const ArgumentValue& value);
  void trace_inputs() const override;
  void settle(Context& context, Command& command) override;

 private:
  struct Change {
    uint32_t index;
    ArgumentValue value;
  };
  using Memory = std::shared_ptr<Allocation>;

  Memory memory_of(Context& context, uint32_t index, const ArgumentValue& value,
                   ze_result_t if_foreign) const;
  void name_memory(Command& command) const;
  void follow_memory();

  const std::vector<Argument> arguments_;
  std::vector<Memory> memory_;         // one for every argument
  std::vector<ArgumentValue> values_;  // inside that memory
  std::vector<void*> places_;          // addresses that the executor uses
  std::unique_ptr<Executor> executor_;
  std::shared_ptr<ProfilingData> profile_;
  std::vector<Change> changes_;
};

}  // namespace softnpu
