#include "mqtt_options.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include <npucore/error.hpp>

#include "paho.hpp"

namespace gstnpu {
namespace {

constexpr const char* kPasswordVariable = "NPU_MQTT_PASSWORD";
constexpr int kConnectTimeoutSeconds = 5;
constexpr int kMostInFlight = 20;
constexpr std::uint32_t kSessionSeconds = 3600;  // that a broker keeps one for a client who is away

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

/// With what the library calls the protocols.
std::string server_of(const BrokerLocation& broker) {
  const bool is_v6 = broker.address.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + broker.address.host + "]" : broker.address.host;
  return (broker.scheme == "mqtts" ? "ssl://" : "tcp://") + host + ":" + broker.address.port;
}

/// 20 characters: brokers need not take more than 23.
std::string new_client_id() {
  std::random_device random;
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "npu-%08x%08x", random(), random());
  return text.data();
}

void check_readable(const char* property, const std::string& file) {
  if (file.empty() || ::access(file.c_str(), R_OK) == 0) return;
  throw npu::Error(npu::ErrorCode::kNotFound, std::string(property) + ": cannot read \"" + file +
                                                  "\" (" + std::generic_category().message(errno) +
                                                  "). Name a file that exists");
}

/// The first line.
std::string read_password(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line) || line.empty()) {
    refuse("mqtt-password-file: the first line of \"" + file + "\" is empty: write the password");
  }
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return line;
}

std::string password_of(const MqttSettings& settings) {
  if (!settings.password.empty()) return settings.password;
  if (!settings.password_file.empty()) return read_password(settings.password_file);
  const char* variable = std::getenv(kPasswordVariable);
  return variable ? variable : "";
}

const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

MQTTClient_connectOptions initial_options(MqttVersion version) {
  MQTTClient_connectOptions old = MQTTClient_connectOptions_initializer;
  MQTTClient_connectOptions fifth = MQTTClient_connectOptions_initializer5;
  old.MQTTVersion = MQTTVERSION_3_1_1;
  return version == MqttVersion::k5 ? fifth : old;
}

}  // namespace

MqttOptions::MqttOptions(const BrokerLocation& broker, const MqttSettings& settings)
    : settings_(settings),
      server_(server_of(broker)),
      client_id_(settings.client_id.empty() ? new_client_id() : settings.client_id),
      connect_(initial_options(settings.version)) {
  check();
  connect_.keepAliveInterval = static_cast<int>(settings_.keep_alive_s);
  connect_.connectTimeout = kConnectTimeoutSeconds;
  connect_.reliable = 0;  // lines need not wait for each other
  connect_.maxInflightMessages = kMostInFlight;
  set_login();
  set_will();
  if (broker.scheme == "mqtts") {
    set_tls();
  }
  set_session();
}

MqttOptions::~MqttOptions() {
  Paho::get().free_properties(&properties_);
}

void MqttOptions::check() const {
  check_readable("mqtt-password-file", settings_.password_file);
  check_readable("mqtt-ca-file", settings_.ca_file);
  check_readable("mqtt-certificate-file", settings_.certificate_file);
  check_readable("mqtt-key-file", settings_.key_file);
  if (settings_.key_file.empty() != settings_.certificate_file.empty()) {
    refuse("mqtt-certificate-file and mqtt-key-file belong together: set both or none");
  }
  if (settings_.will_topic.empty() && !settings_.will_payload.empty()) {
    refuse("mqtt-will-payload has no mqtt-will-topic: set both");
  }
}

void MqttOptions::set_login() {
  password_ = password_of(settings_);
  if (settings_.user.empty()) {
    if (!settings_.password.empty() || !settings_.password_file.empty()) {
      refuse("a password for MQTT has no user: set mqtt-user");
    }
    return;
  }
  connect_.username = settings_.user.c_str();
  connect_.password = or_null(password_);
}

void MqttOptions::set_will() {
  if (settings_.will_topic.empty()) return;
  will_.topicName = settings_.will_topic.c_str();
  will_.message = settings_.will_payload.c_str();
  will_.qos = static_cast<int>(settings_.qos);
  will_.retained = settings_.retain ? 1 : 0;
  connect_.will = &will_;
}

void MqttOptions::set_tls() {
  tls_.trustStore = or_null(settings_.ca_file);
  tls_.keyStore = or_null(settings_.certificate_file);
  tls_.privateKey = or_null(settings_.key_file);
  tls_.enableServerCertAuth = 1;
  tls_.verify = 1;
  tls_.ssl_error_context = this;
  tls_.ssl_error_cb = [](const char* text, std::size_t size, void* self) {
    const MqttOptions& options = *static_cast<MqttOptions*>(self);
    const std::scoped_lock lock(options.mutex_);
    if (options.tls_errors_.size() < 1000) {
      options.tls_errors_.append(text, size);
    }
    return 1;
  };
  connect_.ssl = &tls_;
}

void MqttOptions::set_session() {
  if (!is_version_5()) {
    connect_.cleansession = keeps_session() ? 0 : 1;
    return;
  }
  connect_.cleanstart = keeps_session() ? 0 : 1;
  if (!keeps_session()) return;
  MQTTProperty expiry{};
  expiry.identifier = MQTTPROPERTY_CODE_SESSION_EXPIRY_INTERVAL;
  expiry.value.integer4 = kSessionSeconds;
  Paho::get().add_property(&properties_, &expiry);
}

int MqttOptions::connect(MQTTClient client) {
  if (!is_version_5()) return Paho::get().connect(client, &connect_);
  return Paho::get().take_code(Paho::get().connect5(client, &connect_, &properties_, nullptr));
}

MQTTClient MqttOptions::make_client() const {
  MQTTClient_createOptions options = MQTTClient_createOptions_initializer;
  options.MQTTVersion = is_version_5() ? MQTTVERSION_5 : MQTTVERSION_3_1_1;
  MQTTClient client = nullptr;
  const int result = Paho::get().create(&client, server_.c_str(), client_id_.c_str(),
                                        MQTTCLIENT_PERSISTENCE_NONE, nullptr, &options);
  if (result != MQTTCLIENT_SUCCESS) {
    refuse("cannot make an MQTT client \"" + client_id_ + "\" for " + server_ + " (error " +
           std::to_string(result) + "): check location and mqtt-client-id");
  }
  return client;
}

std::string MqttOptions::take_tls_errors() const {
  const std::scoped_lock lock(mutex_);
  return std::exchange(tls_errors_, {});
}

}  // namespace gstnpu
