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

/// Opens `fd` (below 0: it could not) and begins to connect it, without waiting. 0, EINPROGRESS, or
/// why not.
int begin_connection(const SocketAddress& address, int& fd);
/// Of a connection that was in progress: 0, or why there is none.
int connection_error(int fd);

/// Whether somebody takes connections there. Makes one and ends it; all of the host's addresses
/// together have so long, each its share.
bool is_reachable(const HostAndPort& address, std::chrono::milliseconds longest);

}  // namespace gstnpu
