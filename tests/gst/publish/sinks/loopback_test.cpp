// The ports that brokers of tests listen at.
#include "loopback.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace {

using namespace gstnpu_test;

/// A socket that has asked for a port.
class Server {
 public:
  explicit Server(bool reuses_address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int reuse = reuses_address ? 1 : 0;
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)), 0);
  }
  ~Server() { ::close(fd_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// 0 or an errno.
  int listen_at(int port) const {
    const sockaddr_in address = loopback(port);
    const bool is_bound =
        ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    return is_bound && ::listen(fd_, 1) == 0 ? 0 : errno;
  }

 private:
  const int fd_;
};

TEST(ReservedPort, IsAwayUntilAServerListens) {
  const ReservedPort port;
  EXPECT_FALSE(has_listener(port.number()));
  const Server server(true);
  EXPECT_EQ(server.listen_at(port.number()), 0);
  EXPECT_TRUE(has_listener(port.number()));
}

TEST(ReservedPort, IsOfNoOtherWhileItLives) {
  int number = 0;
  {
    const ReservedPort port;
    number = port.number();
    EXPECT_EQ(Server(false).listen_at(number), EADDRINUSE);
  }
  EXPECT_EQ(Server(false).listen_at(number), 0);
}

TEST(ReservedPort, IsGivenToNobodyBetweenTwoServers) {
  const ReservedPort port;
  EXPECT_EQ(Server(true).listen_at(port.number()), 0);
  EXPECT_FALSE(has_listener(port.number()));
  EXPECT_EQ(Server(false).listen_at(port.number()), EADDRINUSE);
  EXPECT_EQ(Server(true).listen_at(port.number()), 0);
}

}  // namespace
