#pragma once

#include <memory>
#include <vector>

#include "argument_value.hpp"
#include "compiler.hpp"
#include "profiling.hpp"

namespace softnpu {

/// What a recorded execution of a graph computes with: the CPU plugin, or nothing.
class Executor {
 public:
  virtual ~Executor() = default;
  /// On the engine's thread. `profile` may be null.
  virtual void run(ProfilingData* profile) = 0;
  /// While nothing runs: the next run has this value, checked, for an argument.
  virtual void bind(size_t argument, const ArgumentValue& value) = 0;
};

/// `arguments` outlive the executor. `values` holds one address for each of them, checked;
/// `program` may be null when the configuration asks for no computation.
std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        std::vector<ArgumentValue> values);

}  // namespace softnpu
