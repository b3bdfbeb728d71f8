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

#include "base/exit_watch.hpp"
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
  /// After a cancel() nobody wants the result: it is freed here, in the thread that made it.
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

/// What the thread owns, so that nothing of the caller's has to live on.
struct Work {
  Device device;
  Model model;
  CompileOptions options;
  std::shared_ptr<CompileJob::Impl> job;

  void run() {
    options.progress = [job = job, told = std::move(options.progress)](const auto& progress) {
      job->enter(progress.phase);
      if (told) {
        job->tell(told, progress);
      }
    };
    try {
      internal::Compilation compilation(device, model, options, &job->cancellation);
      job->finish(compilation.run(), nullptr);
    } catch (...) {
      job->finish(nullptr, std::current_exception());
    }
  }
};

}  // namespace

CompileJob compile_async(const Device& device, const Model& model, const CompileOptions& options) {
  auto job = std::make_shared<CompileJob::Impl>();
  auto work = std::make_unique<Work>(Work{device, model, options, job});
  base::watch_exit();
  auto stops = std::make_unique<base::StopsBeforeExit>([job] { job->cancellation.request(); });
  try {
    std::thread([work = std::move(work), stops = std::move(stops)]() mutable {
      stops->runs_here();
      work->run();
      work.reset();  // frees driver objects: still inside the driver
      stops.reset();
    }).detach();
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory,
                base::text("no thread to compile on could be started: ", error.what()));
  }
  return internal::Pimpl::make<CompileJob>(std::move(job));
}

CompileProgress CompileJob::progress() const {
  std::scoped_lock lock(impl_->mutex);
  return {impl_->done ? CompilePhase::kDone : impl_->phase,
          std::chrono::steady_clock::now() - impl_->start};
}

bool CompileJob::wait(std::chrono::nanoseconds timeout) const {
  std::unique_lock lock(impl_->mutex);
  const auto done = [&] { return impl_->done; };
  if (timeout != std::chrono::nanoseconds::max()) {
    return impl_->changed.wait_for(lock, timeout, done);
  }
  impl_->changed.wait(lock, done);
  return true;
}

CompiledModel CompileJob::get() const {
  wait();
  std::scoped_lock lock(impl_->mutex);
  if (impl_->error) {
    std::rethrow_exception(impl_->error);
  }
  return internal::Pimpl::make<CompiledModel>(impl_->result);
}

void CompileJob::cancel() noexcept {
  impl_->cancellation.request();
  impl_->wait_until_told();
  impl_->finish(nullptr, std::make_exception_ptr(
                             Error(ErrorCode::kCancelled, "the compilation was cancelled")));
}

}  // namespace npu
