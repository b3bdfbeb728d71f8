#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host_and_port.hpp"

namespace gstnpu {

/// Where a broker is, and which of its topics lines go to.
struct BrokerLocation {
  std::string scheme;                  ///< "mqtt", "mqtts" or "kafka"
  std::vector<HostAndPort> addresses;  ///< one; of Kafka's first brokers several
  std::string topic;
};

bool is_mqtt_location(std::string_view location);
bool is_kafka_location(std::string_view location);

/// Whether the text consists of letters, digits, '.', '_' and '-' only, like topics and
/// librdkafka's keys.
bool is_kafka_name(std::string_view text);

/// SCHEME://HOST[:PORT]/TOPIC, the topic being all that follows; of Kafka also several hosts with
/// commas between them. Throws npu::Error.
BrokerLocation parse_broker_location(const std::string& location);

/// For locations of all kinds but brokers', which parse_broker_location() looks at: a user in front
/// of the host, with a password perhaps, would be in messages. Throws npu::Error, and shows
/// neither.
void check_names_no_user(const std::string& location);

/// HOST:PORT, with brackets where the host is an address of IPv6.
std::string to_text(const HostAndPort& address);

}  // namespace gstnpu
