#pragma once

#include <memory>
#include <vector>

#include "argument_value.hpp"
#include "compiler.hpp"
#include "profiling.hpp"

namespace softnpu {

/// Runs a recorded execution of a graph: on the CPU plugin, or without computing.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs on the engine's thread. `profile` may be null.
  virtual void run(ProfilingData* profile) = 0;
  /// Sets an argument's checked value for the next run. Call it while nothing runs.
  virtual void bind(size_t argument, const ArgumentValue& value) = 0;
};

/// `arguments` outlive the executor. `values` holds one checked address for each of them; `program`
/// may be null if the configuration asks for no computation.
std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        std::vector<ArgumentValue> values);

}  // namespace softnpu
