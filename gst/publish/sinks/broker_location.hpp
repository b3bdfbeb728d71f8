#pragma once

#include <string>
#include <string_view>

#include "host_and_port.hpp"

namespace gstnpu {

/// Where a broker is, and which of its topics lines go to.
struct BrokerLocation {
  std::string scheme;  ///< "mqtt", "mqtts" or "kafka"
  HostAndPort address;
  std::string topic;
};

bool is_mqtt_location(std::string_view location);
bool is_kafka_location(std::string_view location);

/// SCHEME://HOST[:PORT]/TOPIC, the topic being all that follows. Throws npu::Error.
BrokerLocation parse_broker_location(const std::string& location);

}  // namespace gstnpu
