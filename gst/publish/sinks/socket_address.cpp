#include "socket_address.hpp"

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace gstnpu {

std::vector<SocketAddress> resolve(const HostAndPort& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0) {
    throw BadAddress("names a host that is not found (" + std::string(::gai_strerror(error)) + ")");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  std::vector<SocketAddress> found;
  for (const addrinfo* info = list; info; info = info->ai_next) {
    SocketAddress& one = found.emplace_back();
    std::memcpy(&one.bytes, info->ai_addr, info->ai_addrlen);
    one.size = info->ai_addrlen;
  }
  return found;
}

SocketAddress asked_by_paho(const std::vector<SocketAddress>& addresses) {
  const auto found = std::find_if(addresses.begin(), addresses.end(), [](const SocketAddress& one) {
    return one.bytes.ss_family == AF_INET;
  });
  return found == addresses.end() ? addresses.back() : *found;
}

int begin_connection(const SocketAddress& address, int& fd) {
  fd = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
  return result == 0 ? 0 : errno;
}

int connection_error(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return error;
  pollfd connected{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&connected, 1, 0) > 0 ? 0 : ETIMEDOUT;
}

bool is_reachable(const SocketAddress& address, std::chrono::milliseconds longest) {
  int fd = -1;
  int error = begin_connection(address, fd);
  if (error == EINPROGRESS) {
    pollfd connected{.fd = fd, .events = POLLOUT, .revents = 0};
    ::poll(&connected, 1, static_cast<int>(longest.count()));
    error = connection_error(fd);
  }
  if (fd >= 0) {
    ::close(fd);
  }
  return error == 0;
}

}  // namespace gstnpu
