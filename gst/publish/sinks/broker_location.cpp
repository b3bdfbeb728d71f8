#include "broker_location.hpp"

#include <algorithm>
#include <array>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr std::size_t kLongestKafkaTopic = 249;

struct Scheme {
  const char* name;
  const char* port;  // where the location has none
};
constexpr std::array<Scheme, 3> kSchemes = {
    {{"mqtt", "1883"}, {"mqtts", "8883"}, {"kafka", "9092"}}};

[[noreturn]] void refuse(const std::string& location, const Scheme& scheme,
                         const std::string& why) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the location \"" + location + "\" " + why + ": write " + scheme.name +
                       "://HOST/TOPIC or " + scheme.name + "://HOST:PORT/TOPIC");
}

/// Shows nothing of the location, which may hold a password.
[[noreturn]] void refuse_user() {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the location names a user, and all who see the pipeline see it: give name and "
                   "password in the element's own properties");
}

const Scheme* scheme_of(std::string_view location) {
  const auto* found = std::find_if(kSchemes.begin(), kSchemes.end(), [&](const Scheme& scheme) {
    return location.starts_with(std::string(scheme.name) + "://");
  });
  return found == kSchemes.end() ? nullptr : found;
}

bool is_kafka(const Scheme& scheme) {
  return std::string_view(scheme.name) == "kafka";
}

/// Splits the address of one broker, or of several.
std::vector<std::string> split_hosts(const Scheme& scheme, const std::string& text) {
  if (!is_kafka(scheme)) return {text};
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find(',', begin)) != std::string::npos; begin = end + 1) {
    hosts.push_back(text.substr(begin, end - begin));
  }
  hosts.push_back(text.substr(begin));
  return hosts;
}

void check_topic(const std::string& location, const Scheme& scheme, const std::string& topic) {
  if (topic.empty()) {
    refuse(location, scheme, "has no topic");
  }
  if (!is_kafka(scheme)) {
    if (topic.find_first_of("#+") == std::string::npos) return;
    refuse(location, scheme, "has a topic with + or #, which are for those who subscribe");
  }
  const bool is_good =
      topic.size() <= kLongestKafkaTopic && topic != "." && topic != ".." && is_kafka_name(topic);
  if (!is_good) {
    refuse(location, scheme,
           "has a topic of other characters than a to z, A to Z, 0 to 9, '.', '_' and '-', or of "
           "more than " +
               std::to_string(kLongestKafkaTopic));
  }
}

}  // namespace

bool is_mqtt_location(std::string_view location) {
  const Scheme* scheme = scheme_of(location);
  return scheme != nullptr && std::string_view(scheme->name).starts_with("mqtt");
}

bool is_kafka_location(std::string_view location) {
  const Scheme* scheme = scheme_of(location);
  return scheme != nullptr && is_kafka(*scheme);
}

bool is_kafka_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

BrokerLocation parse_broker_location(const std::string& location) {
  const Scheme& scheme = *scheme_of(location);
  const std::string rest = location.substr(std::string_view(scheme.name).size() + 3);
  const std::size_t slash = rest.find('/');
  BrokerLocation parts{.scheme = scheme.name, .addresses = {}, .topic = {}};
  if (slash != std::string::npos) {
    parts.topic = rest.substr(slash + 1);
  }
  const std::string address = rest.substr(0, slash);
  // A password may hold a slash, and no topic of Kafka an @.
  const bool may_name_user = rest.find('@') != std::string::npos;
  if (address.find('@') != std::string::npos || (may_name_user && is_kafka(scheme))) {
    refuse_user();
  }
  try {
    for (const std::string& host : split_hosts(scheme, address)) {
      parts.addresses.push_back(split_host_and_port(host, scheme.port));
    }
  } catch (const BadAddress& error) {
    if (may_name_user) {
      refuse_user();
    }
    refuse(location, scheme, error.what());
  }
  check_topic(location, scheme, parts.topic);
  return parts;
}

void check_names_no_user(const std::string& location) {
  if (scheme_of(location) != nullptr) return;
  const std::size_t host = location.find("://");
  const bool is_url = host != std::string::npos && is_kafka_name(location.substr(0, host));
  if (!is_url || location.find('@', host) == std::string::npos) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the location names a user, and all who see the pipeline see it: write none. "
                   "Brokers, whose locations begin with mqtt://, mqtts:// or kafka://, have "
                   "properties for name and password");
}

std::string to_text(const HostAndPort& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

}  // namespace gstnpu
