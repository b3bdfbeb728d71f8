#pragma once

#include <mosquitto.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "location.hpp"
#include "sink.hpp"

namespace gstnpu {

/// How to speak to an MQTT broker, by the names that mosquitto_pub's options have;
/// docs/elements.md has the table. All throw npu::Error, which names the entry that is wrong.
class MqttConfig {
 public:
  MqttConfig(const Location& location, const BrokerConfig& config);

  const char* text(const std::string& key) const;  ///< null: not set
  bool flag(const std::string& key, bool usual = false) const;
  std::int64_t number(const std::string& key, std::int64_t usual, std::int64_t most) const;
  int qos() const { return static_cast<int>(number("qos", 1, 2)); }
  bool is_version_5() const;

 private:
  void keep_session();

  std::map<std::string, std::string> entries_;
};

struct MosquittoDestroy {
  void operator()(mosquitto* client) const { mosquitto_destroy(client); }
};
using MosquittoRef = std::unique_ptr<mosquitto, MosquittoDestroy>;

/// A client that is not connected. `self` is handed to its callbacks.
MosquittoRef make_mosquitto(const Location& location, const MqttConfig& config, int most_in_flight,
                            void* self);

/// Begins the first connection, and waits until somebody takes it. As mosquitto_connect().
int connect_first(mosquitto* client, const Location& location, const MqttConfig& config);

}  // namespace gstnpu
