#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>

namespace gstnpu {

/// Ends poll() in another thread.
class Interrupt {
 public:
  Interrupt() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Interrupt() { ::close(fd_); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Any thread.
  void set() const { ::eventfd_write(fd_, 1); }
  void clear() const {
    eventfd_t count = 0;
    ::eventfd_read(fd_, &count);
  }
  /// Readable while it is set.
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace gstnpu
