#include "sink.hpp"

#include <npucore/error.hpp>

#include "broker_location.hpp"
#include "line_writer.hpp"
#include "socket_sink.hpp"
#ifdef GST_NPU_HAVE_KAFKA
#include "kafka_sink.hpp"
#endif
#ifdef GST_NPU_HAVE_MQTT
#include "mqtt_sink.hpp"
#endif

namespace gstnpu {
namespace {

std::unique_ptr<Sink> mqtt_sink([[maybe_unused]] const std::string& location,
                                [[maybe_unused]] const SinkOptions& options) {
#ifdef GST_NPU_HAVE_MQTT
  return make_mqtt_sink(location, options);
#else
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "this plugin was built without MQTT: install libpaho-mqtt-dev and build it with "
                   "-Dmqtt=enabled");
#endif
}

std::unique_ptr<Sink> kafka_sink([[maybe_unused]] const std::string& location,
                                 [[maybe_unused]] const SinkOptions& options) {
#ifdef GST_NPU_HAVE_KAFKA
  return make_kafka_sink(location, options);
#else
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "this plugin was built without Kafka: install librdkafka-dev and build it with "
                   "-Dkafka=enabled");
#endif
}

}  // namespace

std::unique_ptr<Sink> make_sink(const std::string& location, const SinkOptions& options) {
  if (is_mqtt_location(location)) return mqtt_sink(location, options);
  if (is_kafka_location(location)) return kafka_sink(location, options);
  if (SocketSink::is_location(location)) {
    return std::make_unique<SocketSink>(location, options.warn);
  }
  return std::make_unique<LineWriter>(location, options);
}

std::string describe_sink(const std::string& location) {
  return location.empty() || location == "-" ? "stdout" : "\"" + location + "\"";
}

}  // namespace gstnpu
