#include "publish/sinks/socket_address.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "listener.hpp"

namespace {

using namespace gstnpu;
using gstnpu_test::Listener;
using std::chrono::milliseconds;

constexpr milliseconds kLong{60000}, kShort{50};

HostAndPort address_of(const Listener& listener) {
  return {.host = "127.0.0.1", .port = std::to_string(listener.port())};
}

TEST(Reachable, IsWhoListens) {
  const Listener listener;
  EXPECT_TRUE(is_reachable(address_of(listener), kLong));
}

TEST(Reachable, IsNobodyWhoHasGone) {
  std::optional<Listener> listener(std::in_place);
  const HostAndPort address = address_of(*listener);
  listener.reset();
  EXPECT_FALSE(is_reachable(address, kLong));
}

TEST(Reachable, IsNoUnknownHost) {
  EXPECT_FALSE(is_reachable({.host = "no host", .port = "1883"}, kLong));
  EXPECT_THROW(resolve({.host = "no host", .port = "1883"}), BadAddress);
}

// The system drops what would connect when so many wait to be accepted.
TEST(Reachable, IsNobodyWhoAnswersNothing) {
  constexpr int kMoreThanMayWait = 16;
  const Listener listener;
  const std::vector<SocketAddress> found = resolve(address_of(listener));
  std::vector<int> waiting(kMoreThanMayWait, -1);
  for (int& fd : waiting) begin_connection(found.front(), fd);
  EXPECT_FALSE(is_reachable(address_of(listener), kShort));
  for (const int fd : waiting) ::close(fd);
}

}  // namespace
