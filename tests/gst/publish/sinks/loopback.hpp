#pragma once

namespace gstnpu_test {

/// A port of the loopback interface that nobody listens at.
int free_port();
bool has_listener(int port);

}  // namespace gstnpu_test
