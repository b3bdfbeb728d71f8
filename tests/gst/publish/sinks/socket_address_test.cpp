#include "publish/sinks/socket_address.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "listener.hpp"

namespace {

using namespace gstnpu;
using gstnpu_test::Listener;
using std::chrono::milliseconds;

constexpr milliseconds kLong{60000}, kShort{50};

SocketAddress address_of(const Listener& listener) {
  return resolve({.host = "127.0.0.1", .port = std::to_string(listener.port())}).front();
}

TEST(Reachable, IsWhoListens) {
  const Listener listener;
  EXPECT_TRUE(is_reachable(address_of(listener), kLong));
}

TEST(Reachable, IsNobodyWhoHasGone) {
  std::optional<Listener> listener(std::in_place);
  const SocketAddress address = address_of(*listener);
  listener.reset();
  EXPECT_FALSE(is_reachable(address, kLong));
}

TEST(Addresses, AreNoneOfAnUnknownHost) {
  EXPECT_THROW(resolve({.host = "no host", .port = "1883"}), BadAddress);
}

// A program at another of the host's addresses was taken for the broker, and its session counted as
// lost.
TEST(Addresses, AreAskedAsPahoDoes) {
  const auto of = [](const char* host) { return resolve({.host = host, .port = "1883"}).front(); };
  const auto asked = [](const std::vector<SocketAddress>& addresses) {
    const SocketAddress found = asked_by_paho(addresses);
    return std::find_if(addresses.begin(), addresses.end(),
                        [&found](const SocketAddress& one) {
                          return std::memcmp(&one.bytes, &found.bytes, sizeof(found.bytes)) == 0;
                        }) -
           addresses.begin();
  };
  const SocketAddress first = of("127.0.0.1"), second = of("127.0.0.2"), sixth = of("::1"),
                      other_sixth = of("::2");
  EXPECT_EQ(asked({sixth, second, first}), 1);
  EXPECT_EQ(asked({first, sixth}), 0);
  EXPECT_EQ(asked({sixth, other_sixth}), 1);
}

// The system drops what would connect when so many wait to be accepted.
TEST(Reachable, IsNobodyWhoAnswersNothing) {
  constexpr int kMoreThanMayWait = 16;
  const Listener listener;
  std::vector<int> waiting(kMoreThanMayWait, -1);
  for (int& fd : waiting) begin_connection(address_of(listener), fd);
  EXPECT_FALSE(is_reachable(address_of(listener), kShort));
  for (const int fd : waiting) ::close(fd);
}

}  // namespace
