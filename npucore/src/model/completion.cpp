#include "completion.hpp"

#include <sched.h>

#include <chrono>
#include <limits>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/log.hpp"

namespace npu::internal {
namespace {

/// True in a thread that runs callbacks, of whichever requests. It must not wait for another such
/// thread, which may be waiting for it.
thread_local bool calls_back = false;

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
  std::mutex mutex;  // guards everything here and the marked members of Completed
  std::condition_variable changed;
  Completed* oldest = nullptr;
  Completed* newest = nullptr;
  /// A running callback. Others run at the same time if it ends their requests, or if they belong
  /// to another model.
  struct Running {
    Completed* item;  ///< null again when a callback destroyed it
    Running* next;
    std::thread::id thread;
  };
  Running* running = nullptr;
  bool stopping = false;
  std::thread::id thread;

  void run();
  void call(std::unique_lock<std::mutex>& lock, Completed* item);
  void call_now(std::unique_lock<std::mutex>& lock, Completed& item);
  Running* frame_of(const Completed& item) const;
  void drop(const Running& frame);
  Completed* take_oldest();
  void take_out(Completed& item);
};

void Completion::Core::run() {
  calls_back = true;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stopping || oldest; });
    if (!oldest) return;
    call(lock, take_oldest());
  }
}

/// Runs a request's callback out of turn, because another callback ends that request.
void Completion::Core::call_now(std::unique_lock<std::mutex>& lock, Completed& item) {
  while (item.queued_) {  // its callback may submit it again
    take_out(item);
    call(lock, &item);
  }
}

Completion::Core::Running* Completion::Core::frame_of(const Completed& item) const {
  Running* frame = running;
  while (frame && frame->item != &item) frame = frame->next;
  return frame;
}

void Completion::Core::drop(const Running& frame) {
  Running** at = &running;
  while (*at != &frame) at = &(*at)->next;
  *at = frame.next;
}

void Completion::Core::call(std::unique_lock<std::mutex>& lock, Completed* item) {
  Running frame{item, running, std::this_thread::get_id()};
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
  std::unique_lock lock(core_->mutex);
  thread_ = std::thread([core = core_, pin, cpu] {
    if (pin) {
      pin_to(cpu);
    }
    core->run();
  });
  core_->thread = thread_.get_id();
}

Completion::~Completion() {
  if (base::is_forked_child()) {
    thread_.detach();  // it stayed with the parent
    return;
  }
  {
    std::scoped_lock lock(core_->mutex);
    core_->stopping = true;
  }
  core_->changed.notify_all();
  // A callback that destroys a model's last request destroys the model in this very thread.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

/// Once the lock is released, the callback may have destroyed the item, and with it this object.
void Completion::add(Completed& item) {
  const std::shared_ptr<Core> core = core_;
  std::scoped_lock lock(core->mutex);
  (core->newest ? core->newest->next_ : core->oldest) = &item;
  core->newest = &item;
  item.queued_ = true;
  ++item.added_count_;
  core->changed.notify_all();
}

bool Completion::wait(Completed& item, std::uint64_t timeout_ns, std::exception_ptr& error) {
  std::unique_lock lock(core_->mutex);
  const std::uint64_t last = item.added_count_;
  const auto is_over = [&] { return item.called_count_ >= last; };
  if (std::this_thread::get_id() == core_->thread && !is_over()) {
    if (!item.queued_) return true;  // called from the callback of this inference
    if (timeout_ns == 0) return false;
    throw Error(ErrorCode::kInvalidArgument,
                "a callback cannot wait for an inference: it would wait for itself");
  }
  // A longer timeout may end past what the clock can tell.
  constexpr std::uint64_t kForEver = std::numeric_limits<std::int64_t>::max() / 2;
  if (timeout_ns >= kForEver) {
    core_->changed.wait(lock, is_over);
  } else if (!core_->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over)) {
    return false;
  }
  error = std::exchange(item.error_, nullptr);
  return true;
}

void Completion::remove(Completed& item) {
  std::unique_lock lock(core_->mutex);
  Core::Running* const frame = core_->frame_of(item);
  if (frame && frame->thread == std::this_thread::get_id()) {
    frame->item = nullptr;
    core_->take_out(item);
    return;
  }
  if (calls_back && !frame) {
    core_->call_now(lock, item);
  }
  core_->changed.wait(lock, [&] { return !item.queued_ && !core_->frame_of(item); });
}

std::shared_ptr<Completion> Completion::shared(bool pin) {
  static std::mutex mutex;                              // guards known
  static auto& known = *new std::weak_ptr<Completion>;  // never destroyed
  std::scoped_lock lock(mutex);
  auto completion = known.lock();
  if (!completion) {
    completion = std::make_shared<Completion>(pin);
    known = completion;
  }
  return completion;
}

}  // namespace npu::internal
