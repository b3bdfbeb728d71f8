#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

namespace gstnpu_test {

/// Somebody who listens on the loopback interface, or at a path.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    begin(reinterpret_cast<const sockaddr*>(&address), size);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    location_ = "tcp://127.0.0.1:" + std::to_string(port_);
  }
  explicit Listener(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), location_("unix:" + path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    begin(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& location() const { return location_; }
  int port() const { return port_; }
  int accept() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  void begin(const sockaddr* address, socklen_t size) const {
    EXPECT_EQ(::bind(fd_, address, size), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
  }

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
