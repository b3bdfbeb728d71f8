// One recorded execution of a graph: its arguments as they were at the append, and the request that
// computes on them.
#pragma once

#include <memory>
#include <vector>

#include "argument_value.hpp"
#include "compiler.hpp"
#include "profiling_data.hpp"

namespace softnpu {

class Executor {
 public:
  virtual ~Executor() = default;
  // On the engine's thread. `profile` may be null.
  virtual void run(ProfilingData* profile) = 0;
};

// `values` holds one address for every argument, checked; `program` may be null when the
// configuration asks for no computation.
std::unique_ptr<Executor> make_executor(std::shared_ptr<Program> program,
                                        const std::vector<Argument>& arguments,
                                        const std::vector<ArgumentValue>& values);

}  // namespace softnpu
