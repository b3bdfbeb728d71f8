#include "exit_watch.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace npu::base {
namespace {

constexpr std::chrono::seconds kLongestStop{5};
constexpr std::chrono::milliseconds kLongestFlush{500};

/// The calls that an exit has to wait for. Never destroyed: threads may end while the process does.
struct UnderWay {
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::list<StopsBeforeExit::Entry> stops;
  int uninterruptible = 0;
  bool waited_in_vain = false;
  pid_t process = ::getpid();
};

UnderWay& under_way() {
  static auto* const instance = new UnderWay;
  return *instance;
}

/// Flushes on another thread, which may block for ever: a getchar() elsewhere holds the lock of
/// stdin. Stdin stands last in the list, so the other streams are flushed by then.
void flush_stdio() {
  struct Flushed {
    std::mutex mutex;  // guards done
    std::condition_variable changed;
    bool done = false;
  };
  auto* const flushed = new Flushed;  // for a thread that may never end
  try {
    std::thread([flushed] {
      std::fflush(nullptr);
      std::scoped_lock lock(flushed->mutex);
      flushed->done = true;
      flushed->changed.notify_all();
    }).detach();
  } catch (const std::exception&) {
    return;
  }
  std::unique_lock lock(flushed->mutex);
  flushed->changed.wait_for(lock, kLongestFlush, [&] { return flushed->done; });
}

/// Stops the stoppable calls and waits for them. May be registered twice; waits in vain only once.
void stop_all(int status, void*) {
  UnderWay& all = under_way();
  if (all.process != ::getpid()) return;  // the parent's threads are not here
  std::unique_lock lock(all.mutex);
  for (const auto& entry : all.stops) entry.stop();
  const auto over = [&] {
    return all.uninterruptible != 0 ||
           std::all_of(all.stops.begin(), all.stops.end(), [](const auto& entry) {
             return entry.thread == std::this_thread::get_id();
           });
  };
  const auto longest = all.waited_in_vain ? std::chrono::seconds(0) : kLongestStop;
  all.waited_in_vain = !all.changed.wait_for(lock, longest, over);
  if (all.uninterruptible == 0) return;
  lock.unlock();
  flush_stdio();
  ::_exit(status);
}

/// Handlers run last in, first out, and whatever a compiler loads later registers its own after
/// ours. Thread-local objects of the exiting thread are destroyed before any handler runs, so a
/// handler registered from here comes last and runs first.
struct RegistersAtTheLastMoment {
  RegistersAtTheLastMoment() = default;
  RegistersAtTheLastMoment(const RegistersAtTheLastMoment&) = delete;
  RegistersAtTheLastMoment& operator=(const RegistersAtTheLastMoment&) = delete;
  ~RegistersAtTheLastMoment() {
    UnderWay& all = under_way();
    if (all.process != ::getpid()) return;
    std::scoped_lock lock(all.mutex);
    if (!all.stops.empty() || all.uninterruptible != 0) {
      ::on_exit(stop_all, nullptr);
    }
  }
  void touch() const {}
};

/// Pins the library: its threads' code and the handler must stay mapped.
void keep_library_loaded() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&keep_library_loaded), &info) != 0 && info.dli_fname) {
    static_cast<void>(::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
  }
}

/// Covers a process whose exiting thread never called watch_exit().
void prepare_once() {
  [[maybe_unused]] static const bool prepared = [] {
    keep_library_loaded();
    return ::on_exit(stop_all, nullptr) == 0;
  }();
}

}  // namespace

StopsBeforeExit::StopsBeforeExit(std::function<void()> stop) {
  prepare_once();
  UnderWay& all = under_way();
  std::scoped_lock lock(all.mutex);
  entry_ = all.stops.insert(all.stops.end(), {std::move(stop)});
}

void StopsBeforeExit::runs_here() {
  std::scoped_lock lock(under_way().mutex);
  entry_->thread = std::this_thread::get_id();
}

StopsBeforeExit::~StopsBeforeExit() {
  UnderWay& all = under_way();
  {
    std::scoped_lock lock(all.mutex);
    all.stops.erase(entry_);
  }
  all.changed.notify_all();
}

RunsWhileExiting::RunsWhileExiting() {
  prepare_once();
  UnderWay& all = under_way();
  {
    std::scoped_lock lock(all.mutex);
    ++all.uninterruptible;
  }
  all.changed.notify_all();
}

RunsWhileExiting::~RunsWhileExiting() {
  UnderWay& all = under_way();
  std::scoped_lock lock(all.mutex);
  --all.uninterruptible;
}

void watch_exit() {
  thread_local const RegistersAtTheLastMoment watch;
  watch.touch();
}

}  // namespace npu::base
