#pragma once

#include <netinet/in.h>

namespace gstnpu_test {

sockaddr_in loopback(int port);
/// Binds a socket to a port that the system chooses. That port.
int bind_anywhere(int fd);
/// A port of the loopback interface that nobody listens at. While this lives the system gives it to
/// nobody else; a server that sets SO_REUSEADDR, and is told the number, can listen at it.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int number() const { return number_; }

 private:
  const int fd_;
  const int number_;
};

bool has_listener(int port);
/// Whether all that was sent from this port is read.
bool is_read(int port);

}  // namespace gstnpu_test
