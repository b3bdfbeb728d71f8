#include "cut_connections.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "loopback.hpp"

namespace gstnpu_test {
namespace {

/// Copies all that has arrived. False: the connection has ended.
bool copy(int from, int to) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN;
  if (got == 0) return false;
  return ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
}

void close_both(const std::pair<int, int>& pair) {
  ::close(pair.first);
  ::close(pair.second);
}

}  // namespace

CutConnections::CutConnections(int to_port)
    : to_port_(to_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  port_ = bind_anywhere(listener_);
  EXPECT_EQ(::listen(listener_, 16), 0);
  thread_ = std::thread([this] { run(); });
}

CutConnections::~CutConnections() {
  is_ending_ = true;
  thread_.join();
  cut();
  ::close(listener_);
}

std::size_t CutConnections::cut() {
  const std::scoped_lock lock(mutex_);
  const std::size_t count = pairs_.size();
  for (const auto& pair : pairs_) close_both(pair);
  pairs_.clear();
  return count;
}

void CutConnections::run() {
  while (!is_ending_) {
    std::vector<pollfd> polled = {{.fd = listener_, .events = POLLIN, .revents = 0}};
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [client, server] : pairs_) {
        polled.push_back({.fd = client, .events = POLLIN, .revents = 0});
        polled.push_back({.fd = server, .events = POLLIN, .revents = 0});
      }
    }
    ::poll(polled.data(), polled.size(), 20);
    if (polled[0].revents != 0) {
      accept();
    }
    pass_on();
  }
}

void CutConnections::accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(to_port_);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return close_both({client, server});
  }
  const std::scoped_lock lock(mutex_);
  pairs_.emplace_back(client, server);
}

void CutConnections::pass_on() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(pairs_, [](const auto& pair) {
    if (copy(pair.first, pair.second) && copy(pair.second, pair.first)) return false;
    close_both(pair);
    return true;
  });
}

}  // namespace gstnpu_test
