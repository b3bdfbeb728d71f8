#pragma once

#include <functional>
#include <list>
#include <thread>

namespace npu::base {

/// While one lives, its thread may be inside a driver. At exit, before the first exit handler or
/// static destructor of a driver, `stop` is called and the process waits for this object's end,
/// five seconds at most.
class StopsBeforeExit {
 public:
  explicit StopsBeforeExit(std::function<void()> stop);
  StopsBeforeExit(const StopsBeforeExit&) = delete;
  StopsBeforeExit& operator=(const StopsBeforeExit&) = delete;
  ~StopsBeforeExit();

  /// Names the calling thread as the one inside: an exit from there waits for nothing.
  void runs_here();

  struct Entry {
    std::function<void()> stop;
    std::thread::id thread = {};
  };

 private:
  std::list<Entry>::iterator entry_;
};

/// While one lives, its thread may be inside the driver's compiler, which cannot be interrupted and
/// must not be torn down under it. A process that exits meanwhile flushes stdio and is then ended,
/// with its own exit code, without exit handlers.
class RunsWhileExiting {
 public:
  RunsWhileExiting();
  RunsWhileExiting(const RunsWhileExiting&) = delete;
  RunsWhileExiting& operator=(const RunsWhileExiting&) = delete;
  ~RunsWhileExiting();
};

/// Call it in the thread that will exit the process, as far as that is known: libraries that a
/// compiler loads lazily register destructors, which must not run first.
void watch_exit();

}  // namespace npu::base
