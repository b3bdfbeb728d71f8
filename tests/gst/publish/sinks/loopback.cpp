#include "loopback.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace gstnpu_test {
namespace {

int new_socket() {
  return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int bind_with_reuse(int fd) {
  const int on = 1;
  EXPECT_EQ(::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
  return bind_anywhere(fd);
}

}  // namespace

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int bind_anywhere(int fd) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

ReservedPort::ReservedPort() : fd_(new_socket()), number_(bind_with_reuse(fd_)) {}

ReservedPort::~ReservedPort() {
  ::close(fd_);
}

bool has_listener(int port) {
  const int fd = new_socket();
  const sockaddr_in address = loopback(port);
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  ::close(fd);
  return result == 0;
}

bool is_read(int port) {
  std::ifstream table("/proc/net/tcp");
  constexpr auto kLine = std::numeric_limits<std::streamsize>::max();
  table.ignore(kLine, '\n');
  std::string number, from, to, state, queues;  // ADDRESS:PORT twice, TO_SEND:TO_READ; hexadecimal
  for (; table >> number >> from >> to >> state >> queues; table.ignore(kLine, '\n')) {
    const auto number_behind_colon = [](const std::string& text) {
      return std::stol(text.substr(text.find(':') + 1), nullptr, 16);
    };
    constexpr const char* kEstablished = "01";
    if (state != kEstablished) continue;
    if (number_behind_colon(from) == port && std::stol(queues, nullptr, 16) != 0) return false;
    if (number_behind_colon(to) == port && number_behind_colon(queues) != 0) return false;
  }
  return true;
}

}  // namespace gstnpu_test
