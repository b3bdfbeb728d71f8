#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <npucore/compiled_model.hpp>
#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/exit_watch.hpp"
#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"

#include "cancellation.hpp"
#include "compilation.hpp"

namespace npu {

struct NPU_LOCAL CompileJob::Impl {
  using Result = std::shared_ptr<CompiledModel::Impl>;

  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  internal::Cancellation cancellation;
  std::mutex telling_mutex;  // held while the caller's progress function runs
  std::atomic<std::thread::id> telling_thread;
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  CompilePhase phase = CompilePhase::kWaiting;
  bool done = false;
  Result result;
  std::exception_ptr error;

  void enter(CompilePhase next) {
    std::scoped_lock lock(mutex);
    phase = next;
  }
  /// Calls the caller's function, but not after a cancel() has returned.
  void tell(const std::function<void(const CompileProgress&)>& told,
            const CompileProgress& progress) {
    std::scoped_lock lock(telling_mutex);
    if (cancellation.requested()) return;
    telling_thread = std::this_thread::get_id();
    told(progress);
    telling_thread = std::thread::id();
  }
  /// The function may itself cancel.
  void wait_until_told() {
    if (telling_thread.load() != std::this_thread::get_id()) {
      std::scoped_lock lock(telling_mutex);
    }
  }
  /// After a cancel() nobody wants the result: frees it here, in the thread that made it.
  void finish(Result made, std::exception_ptr failure) {
    {
      std::scoped_lock lock(mutex);
      if (!done) {
        done = true;
        result.swap(made);
        error = std::move(failure);
      }
    }
    changed.notify_all();
  }
};

namespace {

/// Everything that the thread uses, so that nothing of the caller's has to live on.
struct Work {
  Device device;
  Model model;
  CompileOptions options;
  std::shared_ptr<CompileJob::Impl> job;

  void run() {
    try {
      job->finish(base::only_errors([this] { return compile(); }), nullptr);
    } catch (...) {
      job->finish(nullptr, std::current_exception());
    }
  }

 private:
  CompileJob::Impl::Result compile() {
    options.progress = [job = job, told = std::move(options.progress)](const auto& progress) {
      job->enter(progress.phase);
      if (told) {
        job->tell(told, progress);
      }
    };
    return internal::Compilation(device, model, options, &job->cancellation).run();
  }
};

/// Refuses a forked child: the thread is not there, and may have left the mutex locked.
CompileJob::Impl& live(const std::shared_ptr<CompileJob::Impl>& impl) {
  base::refuse_after_fork();
  return base::live(impl, "CompileJob");
}

/// Made in advance: a cancel must not fail for lack of memory.
const std::exception_ptr& was_cancelled() {
  static const auto* const made = new std::exception_ptr(
      std::make_exception_ptr(Error(ErrorCode::kCancelled, "the compilation was cancelled")));
  return *made;
}

void start(std::unique_ptr<Work> work) {
  base::watch_exit();
  auto stops =
      std::make_unique<base::StopsBeforeExit>([job = work->job] { job->cancellation.request(); });
  try {
    std::thread([work = std::move(work), stops = std::move(stops)]() mutable {
      stops->runs_here();
      work->run();
      work.reset();  // still inside the driver: this frees driver objects
      stops.reset();
    }).detach();
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory,
                base::text("no thread to compile on could be started: ", error.what()));
  }
}

}  // namespace

CompileJob compile_async(const Device& device, const Model& model, const CompileOptions& options) {
  return base::only_errors([&] {
    was_cancelled();
    auto job = std::make_shared<CompileJob::Impl>();
    start(std::make_unique<Work>(Work{device, model, options, job}));
    return internal::Pimpl::make<CompileJob>(std::move(job));
  });
}

CompileProgress CompileJob::progress() const {
  auto& job = live(impl_);
  std::scoped_lock lock(job.mutex);
  return {job.done ? CompilePhase::kDone : job.phase, std::chrono::steady_clock::now() - job.start};
}

bool CompileJob::wait(std::chrono::nanoseconds timeout) const {
  auto& job = live(impl_);
  std::unique_lock lock(job.mutex);
  const auto done = [&] { return job.done; };
  // A longer timeout may end past what the clock can tell.
  if (timeout < std::chrono::nanoseconds::max() / 2) {
    return job.changed.wait_for(lock, timeout, done);
  }
  job.changed.wait(lock, done);
  return true;
}

CompiledModel CompileJob::get() const {
  wait();
  auto& job = live(impl_);
  std::scoped_lock lock(job.mutex);
  if (job.error) {
    std::rethrow_exception(job.error);
  }
  return internal::Pimpl::make<CompiledModel>(job.result);
}

void CompileJob::cancel() noexcept {
  if (!impl_ || base::is_forked_child()) return;  // the helper process is the parent's
  impl_->cancellation.request();
  impl_->wait_until_told();
  impl_->finish(nullptr, was_cancelled());
}

}  // namespace npu
