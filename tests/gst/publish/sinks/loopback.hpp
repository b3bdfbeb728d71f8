#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

namespace gstnpu_test {

sockaddr_in loopback(int port);
/// Binds a socket to a port that the system chooses. That port.
int bind_anywhere(int fd);
/// A port of the loopback interface that nobody listens at. While this lives the system gives it to
/// nobody else; a server that sets SO_REUSEADDR, and is told the number, can listen at it.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int number() const { return number_; }

 private:
  const int fd_;
  const int number_;
};

bool has_listener(int port);
/// Whether all that was sent from this port is read.
bool is_read(int port);

/// Somebody who listens on the loopback interface, or at a path.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    port_ = bind_anywhere(fd_);
    EXPECT_EQ(::listen(fd_, 4), 0);
    location_ = "tcp://127.0.0.1:" + std::to_string(port_);
  }
  explicit Listener(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), location_("unix:" + path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& location() const { return location_; }
  int port() const { return port_; }
  int accept() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  int fd_;
  int port_ = 0;
  std::string location_;
};

/// So many bytes, or all until the end.
inline std::string read_from(int fd, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::read(fd, text.data() + size, most - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace gstnpu_test
