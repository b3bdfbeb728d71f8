#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "broker_process.hpp"

namespace gstnpu_test {

/// tests/support/kafka_broker.py.
class KafkaBroker : public BrokerProcess {
 public:
  /// Not started.
  explicit KafkaBroker(std::vector<std::string> options = {})
      : BrokerProcess(std::getenv("NPU_KAFKA_BROKER"), std::move(options)) {}

  std::string location() const { return "kafka://localhost:" + std::to_string(port()) + "/lines"; }
  /// KEY<tab>LINE of each message, in the order of the topic.
  std::vector<std::string> messages() const { return lines_of("messages"); }
  /// The frames of the lines, in that order.
  std::vector<int> frames() const;
  /// Logins that were refused.
  std::size_t refused() const { return lines_of("refused").size(); }
  /// Times that it told who the brokers are, to those whom it had let in.
  std::size_t told() const { return lines_of("told").size(); }
  /// Batches that came again.
  std::size_t repeated() const { return lines_of("repeated").size(); }
};

}  // namespace gstnpu_test
