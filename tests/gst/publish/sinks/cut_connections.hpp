#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace gstnpu_test {

/// Passes connections on to a port of the loopback interface, and cuts them.
class CutConnections {
 public:
  explicit CutConnections(int to_port);
  ~CutConnections();
  CutConnections(const CutConnections&) = delete;
  CutConnections& operator=(const CutConnections&) = delete;

  int port() const { return port_; }
  /// Ends all connections where they are; what is within is lost. How many there were.
  std::size_t cut();

 private:
  void run();
  void accept();
  void pass_on();

  const int to_port_;
  const int listener_;
  int port_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::mutex mutex_;  // guards pairs_
  std::vector<std::pair<int, int>> pairs_;
  std::thread thread_;
};

}  // namespace gstnpu_test
