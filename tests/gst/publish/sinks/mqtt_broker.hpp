#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "broker_process.hpp"
#include "mosquitto.hpp"

namespace gstnpu_test {

/// tests/support/mqtt_broker.py.
class MqttBroker : public BrokerProcess {
 public:
  /// Not started.
  explicit MqttBroker(std::vector<std::string> options = {})
      : BrokerProcess(std::getenv("NPU_MQTT_BROKER"), std::move(options)) {}

  std::string location() const { return "mqtt://127.0.0.1:" + std::to_string(port()) + "/lines"; }
  /// How often each frame's line is out.
  std::map<guint64, int> frames() const { return frames_in(messages()); }
  std::vector<std::string> messages() const { return lines_of("messages"); }
  /// Lines that came.
  std::size_t taken() const { return lines_of("taken").size(); }
  /// Clients that would connect.
  std::size_t connects() const { return lines_of("connects").size(); }
  /// Messages of quality 2 that were to be given out.
  std::size_t releases() const { return lines_of("releases").size(); }
};

}  // namespace gstnpu_test
