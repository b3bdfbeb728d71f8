#pragma once

#include <netinet/in.h>

namespace gstnpu_test {

sockaddr_in loopback(int port);
/// Binds a socket to a port that the system chooses. That port.
int bind_anywhere(int fd);
/// A port of the loopback interface that nobody listens at.
int free_port();
bool has_listener(int port);
/// Whether all that was sent from this port is read.
bool is_read(int port);

}  // namespace gstnpu_test
