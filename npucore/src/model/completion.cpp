#include "completion.hpp"

#include <sched.h>

#include <chrono>
#include <limits>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/log.hpp"

namespace npu::internal {

/// A thread that runs callbacks, for those that wait for it.
struct Caller {
  const Completed* awaited = nullptr;  ///< for the end of whose callback it waits, in its own
  const Caller* next = nullptr;        ///< runs that callback if none does yet; null: itself
};

namespace {

/// Guards all queues, what follows here and the marked members of Completed: a callback of one
/// model may wait for another model's.
std::mutex mutex;

thread_local Caller* this_caller = nullptr;  ///< null in all other threads

/// A running callback. Others run at the same time if it ends their requests, or if they belong to
/// another model.
struct Running {
  Completed* item;  ///< null again when a callback destroyed it
  Running* next;
  const Caller* caller;
};
Running* running = nullptr;

Running* frame_of(const Completed& item) {
  Running* frame = running;
  while (frame && frame->item != &item) frame = frame->next;
  return frame;
}

bool is_calling(const Caller& caller) {
  const Running* frame = running;
  while (frame && frame->caller != &caller) frame = frame->next;
  return frame;
}

void drop(const Running& frame) {
  Running** at = &running;
  while (*at != &frame) at = &(*at)->next;
  *at = frame.next;
}

/// Whether `caller` is this thread, or waits for a callback of this thread, by way of any others.
bool waits_for_this_thread(const Caller* caller) {
  while (caller && caller != this_caller) {
    const Running* frame = caller->awaited ? frame_of(*caller->awaited) : nullptr;
    caller = frame ? frame->caller : caller->next;
  }
  return caller;
}

/// This thread waits without end for a callback's end as long as this lives: a wait that ends by
/// itself closes no circle. Needs the mutex at both ends.
class Awaiting {
 public:
  Awaiting(const Completed& item, const Caller* next) {
    if (this_caller) {
      *this_caller = {&item, next};
    }
  }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;
  ~Awaiting() {
    if (this_caller) {
      *this_caller = {};
    }
  }
};

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (cpu < 0 || ::sched_setaffinity(0, sizeof(set), &set) != 0) {
    base::log(LogLevel::kWarning, "ENABLE_CPU_PINNING: the completion thread is not pinned");
  }
}

}  // namespace

/// The state shared by thread and owners; it outlives a Completion destroyed in its own thread.
struct Completion::Core {
  std::condition_variable changed;
  Completed* oldest = nullptr;
  Completed* newest = nullptr;
  bool stopping = false;
  Caller caller;  ///< the thread's

  void run();
  void call(std::unique_lock<std::mutex>& lock, Completed* item);
  Completed* take_oldest();
  void take_out(Completed& item);
};

void Completion::Core::run() {
  this_caller = &caller;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stopping || oldest; });
    if (!oldest) return;
    call(lock, take_oldest());
  }
}

void Completion::Core::call(std::unique_lock<std::mutex>& lock, Completed* item) {
  Running frame{item, running, this_caller};
  running = &frame;
  lock.unlock();
  auto callback = item->callback();
  const std::exception_ptr error = item->complete();
  try {
    (*callback)(error);
  } catch (const std::exception& thrown) {
    base::log_failure("a request's callback threw", thrown);
  } catch (...) {
    base::log(LogLevel::kError,
              "a request's callback threw something that is not a std::exception");
  }
  callback.reset();  // without the lock: what it captured may be the last owner of other requests
  lock.lock();
  if (frame.item) {
    ++item->called_count_;
    item->error_ = error;
  }
  drop(frame);
  changed.notify_all();
}

Completed* Completion::Core::take_oldest() {
  Completed* item = oldest;
  oldest = std::exchange(item->next_, nullptr);
  if (!oldest) {
    newest = nullptr;
  }
  item->queued_ = false;
  return item;
}

void Completion::Core::take_out(Completed& item) {
  if (!item.queued_) return;
  Completed* before = nullptr;
  for (Completed* each = oldest; each != &item; each = each->next_) before = each;
  (before ? before->next_ : oldest) = item.next_;
  if (newest == &item) {
    newest = before;
  }
  item.queued_ = false;
}

Completion::Completion(bool pin) : core_(std::make_shared<Core>()) {
  const int cpu = pin ? ::sched_getcpu() : -1;
  thread_ = std::thread([core = core_, pin, cpu] {
    if (pin) {
      pin_to(cpu);
    }
    core->run();
  });
}

Completion::~Completion() {
  if (base::is_forked_child()) {
    thread_.detach();  // it stayed with the parent
    return;
  }
  std::unique_lock lock(mutex);
  core_->stopping = true;
  // A callback that destroys a model's last request may run in this very thread, or be waited for
  // by the callback of that request.
  const bool may_wait_for_this = this_caller && is_calling(core_->caller);
  lock.unlock();
  core_->changed.notify_all();
  if (may_wait_for_this) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

/// Once the lock is released, the callback may have destroyed the item, and with it this object.
void Completion::add(Completed& item) {
  const std::shared_ptr<Core> core = core_;
  std::scoped_lock lock(mutex);
  (core->newest ? core->newest->next_ : core->oldest) = &item;
  core->newest = &item;
  item.queued_ = true;
  ++item.added_count_;
  core->changed.notify_all();
}

bool Completion::wait(Completed& item, std::uint64_t timeout_ns, std::exception_ptr& error) {
  std::unique_lock lock(mutex);
  const std::uint64_t last = item.added_count_;
  const auto is_over = [&] { return item.called_count_ >= last; };
  // A longer timeout may end past what the clock can tell.
  constexpr std::uint64_t kForEver = std::numeric_limits<std::int64_t>::max() / 2;
  const bool is_for_ever = timeout_ns >= kForEver;
  if (this_caller && !is_over()) {
    const Running* const frame = frame_of(item);
    const bool is_here = frame && frame->caller == this_caller;
    if (is_here && !item.queued_) return true;  // called from the callback of this inference
    if (is_for_ever && waits_for_this_thread(frame ? frame->caller : &core_->caller)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a callback cannot wait for an inference: it would wait for itself");
    }
  }
  if (is_for_ever) {
    const Awaiting awaiting(item, &core_->caller);
    core_->changed.wait(lock, is_over);
  } else if (!core_->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over)) {
    return false;
  }
  error = std::exchange(item.error_, nullptr);
  return true;
}

void Completion::remove(Completed& item) {
  std::unique_lock lock(mutex);
  for (;;) {
    Running* const frame = frame_of(item);
    if (!frame && !item.queued_) return;
    if (frame && waits_for_this_thread(frame->caller)) {
      // Its inference is over. Its callback cannot return before this thread's, and goes on alone.
      frame->item = nullptr;
      return core_->take_out(item);
    }
    if (!frame && this_caller) {
      // Called out of turn: the thread whose turn it is may be waiting for this one.
      core_->take_out(item);
      core_->call(lock, &item);
    } else {
      const Awaiting awaiting(item, nullptr);
      core_->changed.wait(lock);
    }
  }
}

std::shared_ptr<Completion> Completion::shared(bool pin) {
  static std::mutex making;                             // guards known
  static auto& known = *new std::weak_ptr<Completion>;  // never destroyed
  std::scoped_lock lock(making);
  auto completion = known.lock();
  if (!completion) {
    completion = std::make_shared<Completion>(pin);
    known = completion;
  }
  return completion;
}

}  // namespace npu::internal
