#pragma once

namespace gstnpu_test {

/// A port of the loopback interface that nobody listens at.
int free_port();
bool has_listener(int port);

/// Takes connections and never answers.
class SilentServer {
 public:
  SilentServer();
  ~SilentServer();
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

}  // namespace gstnpu_test
