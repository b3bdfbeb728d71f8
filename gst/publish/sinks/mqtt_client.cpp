#include "mqtt_client.hpp"

#include <mqtt_protocol.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr std::int64_t kUsualKeepalive = 60;    // seconds, as mosquitto_pub's
constexpr std::int64_t kSessionSeconds = 3600;  // that a broker keeps it for a client who is away
constexpr std::array<std::string_view, 18> kNames = {"id",
                                                     "username",
                                                     "pw",
                                                     "protocol-version",
                                                     "qos",
                                                     "retain",
                                                     "keepalive",
                                                     "cafile",
                                                     "capath",
                                                     "cert",
                                                     "key",
                                                     "insecure",
                                                     "will-qos",
                                                     "will-topic",
                                                     "will-payload",
                                                     "will-retain",
                                                     "clean-session",
                                                     "session-expiry-interval"};

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, "the broker's configuration " + text);
}

void check_name(const std::string& key) {
  std::string known;
  for (const std::string_view name : kNames) {
    if (name == key) return;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  refuse("has \"" + key + "\", which MQTT has not: it has " + known);
}

/// libmosquitto has looked at `what`.
void require(int result, const std::string& what, const std::string& cure) {
  if (result == MOSQ_ERR_SUCCESS) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument, "libmosquitto does not take " + what + " (" +
                                                         mosquitto_strerror(result) + "): " + cure);
}

void set_tls(mosquitto* client, const MqttConfig& config) {
  mosquitto_tls_insecure_set(client, config.flag("insecure"));
  if (!config.text("cafile") && !config.text("capath")) {
    if (config.text("cert") || config.text("key")) {
      refuse("has a cert, but no cafile or capath: name the broker's authority, too");
    }
    mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
    // Else libmosquitto (2.0.11) refuses to connect a second time.
    mosquitto_int_option(client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
    return;
  }
  const auto no_pass_phrase = +[](char*, int, int, void*) { return 0; };  // else it asks for one
  require(mosquitto_tls_set(client, config.text("cafile"), config.text("capath"),
                            config.text("cert"), config.text("key"), no_pass_phrase),
          "the files cafile, cert and key",
          "each must be readable, and cert and key are set together");
}

void set_will(mosquitto* client, const MqttConfig& config) {
  if (!config.text("will-topic")) return;
  const std::string payload = config.text("will-payload") ? config.text("will-payload") : "";
  require(mosquitto_will_set(client, config.text("will-topic"), static_cast<int>(payload.size()),
                             payload.data(), static_cast<int>(config.number("will-qos", 0, 2)),
                             config.flag("will-retain")),
          "will-topic", "name one topic, without + and #");
}

}  // namespace

MqttConfig::MqttConfig(const Location& location, const BrokerConfig& config) {
  for (const auto& [key, value] : config) {
    check_name(key);
    entries_[key] = value;
  }
  for (const char* key : {"cafile", "capath", "cert", "key"}) {
    if (location.kind == Location::Kind::kMqtts || !text(key)) continue;
    refuse("has \"" + std::string(key) + "\", which is for TLS: write mqtts:// as location");
  }
  if ((text("pw") && !text("username")) || (text("will-payload") && !text("will-topic"))) {
    refuse("has a pw without username, or a will-payload without will-topic: write both");
  }
  if (qos() == 2) {
    keep_session();
  }
  if (!flag("clean-session", true) && !text("id")) {
    refuse("has clean-session=false, and sessions have names: write id=NAME, too");
  }
}

/// Lines of QoS 2 arrive once as long as the broker has the session, so it survives a connection.
void MqttConfig::keep_session() {
  const std::unique_ptr<gchar, decltype(&g_free)> random(g_uuid_string_random(), g_free);
  entries_.emplace("id", "npu-" + std::string(random.get(), 8));
  entries_.emplace("clean-session", "false");
  if (is_version_5()) {
    entries_.emplace("session-expiry-interval", std::to_string(kSessionSeconds));
  }
}

const char* MqttConfig::text(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.c_str();
}

bool MqttConfig::flag(const std::string& key, bool usual) const {
  const std::string value = text(key) ? text(key) : usual ? "true" : "false";
  if (value == "true" || value == "false") return value == "true";
  refuse("has a wrong " + key + ": write true or false");
}

std::int64_t MqttConfig::number(const std::string& key, std::int64_t usual,
                                std::int64_t most) const {
  if (!text(key)) return usual;
  const std::string_view value = text(key);
  std::int64_t read = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error == std::errc() && end == value.data() + value.size() && read >= 0 && read <= most) {
    return read;
  }
  refuse("has a wrong " + key + ": write a number from 0 to " + std::to_string(most));
}

bool MqttConfig::is_version_5() const {
  const std::string_view version = text("protocol-version") ? text("protocol-version") : "mqttv311";
  if (version != "mqttv311" && version != "mqttv5") {
    refuse("has a wrong protocol-version: write mqttv311 or mqttv5");
  }
  return version == "mqttv5";
}

MosquittoRef make_mosquitto(const Location& location, const MqttConfig& config, int most_in_flight,
                            void* self) {
  static std::once_flag once;
  std::call_once(once, [] { mosquitto_lib_init(); });  // for good: other users may come and go
  require(mosquitto_pub_topic_check(location.topic.c_str()), "the topic of location",
          "name one topic, without + and #");
  MosquittoRef client(mosquitto_new(config.text("id"), config.flag("clean-session", true), self));
  require(client ? MOSQ_ERR_SUCCESS : MOSQ_ERR_ERRNO, "id or clean-session", std::strerror(errno));
  mosquitto_threaded_set(client.get(), true);
  const int version = config.is_version_5() ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311;
  mosquitto_int_option(client.get(), MOSQ_OPT_PROTOCOL_VERSION, version);
  mosquitto_int_option(client.get(), MOSQ_OPT_SEND_MAXIMUM, most_in_flight);
  require(mosquitto_username_pw_set(client.get(), config.text("username"), config.text("pw")),
          "username", "it has more than 65535 bytes, or is no UTF-8");
  set_will(client.get(), config);
  if (location.kind == Location::Kind::kMqtts) {
    set_tls(client.get(), config);
  }
  config.flag("retain");  // looks at it, as the next one does
  config.number("session-expiry-interval", 0, UINT32_MAX);
  const std::int64_t keepalive = config.number("keepalive", kUsualKeepalive, 65535);
  if (keepalive < 5) {
    refuse("has a keepalive below 5, the least that libmosquitto takes");
  }
  return client;
}

int connect_first(mosquitto* client, const Location& location, const MqttConfig& config) {
  mosquitto_property* properties = nullptr;
  if (config.is_version_5() && config.text("session-expiry-interval")) {
    const auto seconds = config.number("session-expiry-interval", 0, UINT32_MAX);
    mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL,
                                 static_cast<std::uint32_t>(seconds));
  }
  const int result = mosquitto_connect_bind_v5(
      client, location.host.c_str(), location.port,
      static_cast<int>(config.number("keepalive", kUsualKeepalive, 65535)), nullptr, properties);
  mosquitto_property_free_all(&properties);
  return result;
}

}  // namespace gstnpu
