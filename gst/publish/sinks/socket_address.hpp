#pragma once

#include <sys/socket.h>

#include <chrono>
#include <vector>

#include "host_and_port.hpp"

namespace gstnpu {

struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t size = 0;
};

/// All that the host has. Throws BadAddress where it is not known.
std::vector<SocketAddress> resolve(const HostAndPort& address);

/// The one of a host's addresses that paho connects to, whoever is there: the first of IPv4, or
/// else the last (1.3.12).
SocketAddress asked_by_paho(const std::vector<SocketAddress>& addresses);

/// Opens `fd` (below 0: it could not) and begins to connect it, without waiting. 0, EINPROGRESS, or
/// why not.
int begin_connection(const SocketAddress& address, int& fd);
/// Result of a connection that was in progress: 0, or why it failed.
int connection_error(int fd);

/// Whether somebody takes connections there. Makes one and ends it.
bool is_reachable(const SocketAddress& address, std::chrono::milliseconds longest);

}  // namespace gstnpu
