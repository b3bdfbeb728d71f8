#include <sys/eventfd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include <npucore/error.hpp>
#include <npucore/request.hpp>

#include "base/api.hpp"
#include "base/forked.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace npu {

using Done = Completions::Done;

/// The part that the callbacks of watched requests share.
class NPU_LOCAL Ends {
 public:
  Ends() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) {
      throw Error(ErrorCode::kIo, base::text("eventfd: ", base::errno_text(errno),
                                             ": raise the limit of open files (ulimit -n)"));
    }
  }
  int fd() const { return event_.get(); }
  void add(std::uint64_t key, std::exception_ptr error) noexcept;
  std::vector<Done> take();
  /// Closes the descriptor; what is added later is dropped.
  void close() noexcept;

 private:
  std::mutex mutex_;  // guards everything below
  base::UniqueFd event_;
  std::vector<Done> ended_;
  bool was_out_of_memory_ = false;
};

void Ends::add(std::uint64_t key, std::exception_ptr error) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!event_) return;
  try {
    ended_.push_back({key, std::move(error)});
  } catch (const std::bad_alloc&) {
    was_out_of_memory_ = true;
  }
  (void)::eventfd_write(event_.get(), 1);  // refused by a full counter, which can be read already
}

std::vector<Done> Ends::take() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(was_out_of_memory_, false)) {
    throw Error(ErrorCode::kOutOfMemory,
                "Completions::take: there was no memory to note the end of an inference: ask the "
                "requests in flight by wait()");
  }
  eventfd_t count = 0;
  (void)::eventfd_read(event_.get(), &count);
  return std::exchange(ended_, {});
}

void Ends::close() noexcept {
  if (base::is_forked_child()) return;  // a thread that stayed with the parent may have the lock
  std::vector<Done> dropped;            // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  event_.reset();
  dropped.swap(ended_);
}

struct NPU_LOCAL Completions::Impl {
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { ends->close(); }
  const std::shared_ptr<Ends> ends = std::make_shared<Ends>();
};

Completions::Completions() : impl_(base::only_errors([] { return std::make_shared<Impl>(); })) {}

int Completions::fd() const {
  return base::live(impl_, "Completions").ends->fd();
}

void Completions::watch(Request& request, std::uint64_t key) {
  base::call(impl_, "Completions", [&](const Impl& impl) {
    base::refuse_after_fork();
    request.set_callback(
        [ends = impl.ends, key](std::exception_ptr error) { ends->add(key, std::move(error)); });
  });
}

std::vector<Done> Completions::take() {
  return base::call(impl_, "Completions", [](const Impl& impl) {
    base::refuse_after_fork();
    return impl.ends->take();
  });
}

}  // namespace npu
