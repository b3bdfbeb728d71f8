#pragma once

namespace npu::base {

/// While one lives, its thread may be inside the driver's compiler, which cannot be interrupted and
/// must not be torn down under it. A process that exits meanwhile is then ended, with its own exit
/// code, before the first exit handler or static destructor of a driver runs.
class RunsWhileExiting {
 public:
  RunsWhileExiting();
  RunsWhileExiting(const RunsWhileExiting&) = delete;
  RunsWhileExiting& operator=(const RunsWhileExiting&) = delete;
  ~RunsWhileExiting();
};

/// To be called in the thread that will exit the process, as far as that can be known: what a
/// compiler loads lazily registers destructors of its own, which must not run first.
void watch_exit();

}  // namespace npu::base
