#include "sink.hpp"

namespace gstnpu {
namespace {

[[maybe_unused]] std::unique_ptr<Sink> missing(const char* what, const char* package) {
  refuse(std::string("this plugin was built without ") + what + ": install " + package +
         " and build it anew");
}

}  // namespace

std::unique_ptr<Sink> open_sink(const std::string& text, const SinkOptions& options,
                                SinkPeers peers) {
  const Location location = parse_location(text);
  if (!options.broker.empty() && location.topic.empty()) {
    refuse("broker-config and broker-config-file are for brokers, and the location is " +
           describe_location(text) +
           ": leave them out, or write mqtt://, mqtts:// or kafka://HOST/TOPIC");
  }
  switch (location.kind) {
    case Location::Kind::kFile:
      return make_file_sink(location, options.append, peers);
    case Location::Kind::kUnix:
    case Location::Kind::kTcp:
      return make_socket_sink(location, peers);
    case Location::Kind::kMqtt:
    case Location::Kind::kMqtts:
#ifdef GST_NPU_HAVE_MQTT
      return make_mqtt_sink(location, options, peers);
#else
      return missing("MQTT", "libmosquitto-dev");
#endif
    case Location::Kind::kKafka:
#ifdef GST_NPU_HAVE_KAFKA
      return make_kafka_sink(location, options, peers);
#else
      return missing("Kafka", "librdkafka-dev");
#endif
  }
  return nullptr;
}

}  // namespace gstnpu
