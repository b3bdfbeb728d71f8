#pragma once

#include <cstdint>
#include <string>

namespace gstnpu {

enum class MqttVersion { k311, k5 };

/// How npupublish speaks to an MQTT broker; docs/elements.md describes the properties. Empty texts
/// are not used.
struct MqttSettings {
  std::string client_id;
  std::string user, password, password_file;
  std::uint32_t qos = 1;
  bool retain = false;
  MqttVersion version = MqttVersion::k311;
  std::uint32_t keep_alive_s = 30;
  std::string ca_file, certificate_file, key_file;
  std::string will_topic, will_payload;
};

}  // namespace gstnpu
