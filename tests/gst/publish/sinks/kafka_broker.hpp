#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gst/hand_made_frames.hpp"

#include "child_process.hpp"
#include "loopback.hpp"

namespace gstnpu_test {

/// tests/support/kafka_broker.py, which says what its options mean.
class KafkaBroker {
 public:
  static bool is_installed() { return !find_program("python3").empty(); }
  /// Not started.
  explicit KafkaBroker(std::vector<std::string> options = {}) : options_(std::move(options)) {}

  void start() { start_with(options_); }
  /// With these options instead.
  void start_with(const std::vector<std::string>& options);
  void kill() { process_->end(SIGKILL); }
  /// It answers nothing until it goes on.
  void halt() { process_->send(SIGSTOP); }
  void go_on() { process_->send(SIGCONT); }

  int port() const { return port_; }
  std::string location() const { return "kafka://localhost:" + std::to_string(port_) + "/lines"; }
  /// KEY<tab>LINE of each message, in the order of the topic.
  std::vector<std::string> messages() const { return lines_of("messages"); }
  /// The frames of the lines, in that order.
  std::vector<int> frames() const;
  /// Logins that were refused.
  std::size_t refused() const { return lines_of("refused").size(); }
  /// Batches that came again.
  std::size_t repeated() const { return lines_of("repeated").size(); }

 private:
  std::vector<std::string> lines_of(const std::string& file) const;

  const std::vector<std::string> options_;
  const TempFolder folder_;
  const int port_ = free_port();
  std::optional<ChildProcess> process_;
};

}  // namespace gstnpu_test
