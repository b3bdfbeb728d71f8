#include "broker_location.hpp"

#include <algorithm>
#include <array>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

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

const Scheme* scheme_of(std::string_view location) {
  const auto* found = std::find_if(kSchemes.begin(), kSchemes.end(), [&](const Scheme& scheme) {
    return location.starts_with(std::string(scheme.name) + "://");
  });
  return found == kSchemes.end() ? nullptr : found;
}

}  // namespace

bool is_mqtt_location(std::string_view location) {
  const Scheme* scheme = scheme_of(location);
  return scheme != nullptr && std::string_view(scheme->name).starts_with("mqtt");
}

bool is_kafka_location(std::string_view location) {
  const Scheme* scheme = scheme_of(location);
  return scheme != nullptr && std::string_view(scheme->name) == "kafka";
}

BrokerLocation parse_broker_location(const std::string& location) {
  const Scheme& scheme = *scheme_of(location);
  const std::string rest = location.substr(std::string_view(scheme.name).size() + 3);
  const std::size_t slash = rest.find('/');
  BrokerLocation parts{.scheme = scheme.name, .address = {}, .topic = {}};
  if (slash != std::string::npos) {
    parts.topic = rest.substr(slash + 1);
  }
  const std::string address = rest.substr(0, slash);
  if (address.find('@') != std::string::npos) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "the location names a user, and all who see the pipeline see it: give name "
                     "and password in the element's own properties");
  }
  try {
    parts.address = split_host_and_port(address, scheme.port);
  } catch (const BadAddress& error) {
    refuse(location, scheme, error.what());
  }
  if (parts.topic.empty()) {
    refuse(location, scheme, "has no topic");
  }
  if (parts.topic.find_first_of("#+") != std::string::npos) {
    refuse(location, scheme, "has a topic with + or #, which are for those who subscribe");
  }
  return parts;
}

}  // namespace gstnpu
