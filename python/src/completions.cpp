#include "completions.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pynpu {

Completions::Completions() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) {
    throw npu::Error(npu::ErrorCode::kIo, std::string("eventfd: ") + std::strerror(errno) +
                                              ": raise the limit of open files (ulimit -n)");
  }
}

Completions::~Completions() {
  ::close(fd_);
}

void Completions::add(std::int64_t number) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    finished_.push_back(number);
  }
  (void)::eventfd_write(fd_, 1);  // full: it can be read already
}

std::vector<std::int64_t> Completions::take() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(fd_, &ignored);  // first: what comes after it wakes the reader again
  const std::scoped_lock lock(mutex_);
  std::vector<std::int64_t> taken(finished_.begin(), finished_.end());
  finished_.clear();
  return taken;
}

void bind_completions(nb::module_& module) {
  nb::class_<Completions>(
      module, "Completions",
      "Numbers of finished inferences, with a descriptor that asyncio can watch.")
      .def(nb::init<>())
      .def("fileno", &Completions::fd)
      .def("take", &Completions::take, "Those that finished since the last call, in order.");
}

}  // namespace pynpu
