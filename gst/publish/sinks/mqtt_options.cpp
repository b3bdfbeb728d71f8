#include "mqtt_options.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>
#include <utility>

#include <npucore/error.hpp>

#include "publish/clients/broker_login.hpp"
#include "publish/clients/tls_files.hpp"

#include "mqtt_refusal.hpp"

namespace gstnpu {
namespace {

using std::chrono::milliseconds;

constexpr int kConnectTimeoutSeconds = 5;
constexpr milliseconds kAlmostAllConnectTime{1000 * kConnectTimeoutSeconds - 100};
constexpr milliseconds kLongestThreadTime{10000}, kThreadCheckTime{10};
constexpr int kMostInFlight = 20;                // for the library
constexpr std::size_t kMostOnTheirWay = 16;      // lines; brokers take at least 20 by default
constexpr std::size_t kMostTextBytes = 65535;    // which the protocol counts in 16 bits
constexpr std::uint32_t kSessionSeconds = 3600;  // that a broker keeps one for a client who is away

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

/// Uses the library's names of the protocols.
std::string server_of(const BrokerLocation& broker) {
  return (broker.scheme == "mqtts" ? "ssl://" : "tcp://") + to_text(broker.addresses.front());
}

/// 20 characters: brokers need not take more than 23.
std::string new_client_id() {
  std::random_device random;
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "npu-%08x%08x", random(), random());
  return text.data();
}

/// Longer ones do not fit into their field of the protocol, and make nonsense of what follows.
void check_length(const std::string& name, const std::string& text) {
  if (text.size() <= kMostTextBytes) return;
  refuse(name + " has " + std::to_string(text.size()) + " bytes, and MQTT takes " +
         std::to_string(kMostTextBytes) + " at most: make it shorter");
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

struct Attempt {
  int result;
  bool is_given_up;  // of which the library does not tell, but its time does
};

Attempt time(const std::function<int()>& connect) {
  const auto begin = std::chrono::steady_clock::now();
  const int result = connect();
  const auto took = std::chrono::steady_clock::now() - begin;
  return {.result = result,
          .is_given_up = result == MQTTCLIENT_FAILURE && took >= kAlmostAllConnectTime};
}

/// Where the library's thread takes more than half a second to start, the library fails before it
/// has sent anything. Who connects again before the thread runs starts another one, and the two
/// take each other's messages, or crash.
Attempt attempt(const std::atomic<bool>& is_ending, const std::function<int()>& connect) {
  const Paho& paho = Paho::get();
  const bool starts_thread = !paho.is_receiving();
  const Attempt first = time(connect);
  if (!starts_thread || first.result != MQTTCLIENT_FAILURE) return first;
  for (milliseconds waited{}; waited < kLongestThreadTime && !is_ending;
       waited += kThreadCheckTime) {
    if (paho.is_receiving()) return waited == milliseconds(0) ? first : time(connect);
    std::this_thread::sleep_for(kThreadCheckTime);
  }
  return first;
}

}  // namespace

MqttOptions::MqttOptions(const BrokerLocation& broker, const MqttSettings& settings,
                         const std::atomic<bool>& is_ending)
    : settings_(settings),
      is_ending_(is_ending),
      address_(broker.addresses.front()),
      server_(server_of(broker)),
      client_id_(settings.client_id.empty() ? new_client_id() : settings.client_id),
      connect_(initial_options(settings.version)),
      most_on_their_way_(kMostOnTheirWay) {
  check(broker);
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

void MqttOptions::check(const BrokerLocation& broker) const {
  check_length("the topic of location", broker.topic);
  check_length("mqtt-client-id", settings_.client_id);
  check_length("mqtt-user", settings_.user);
  check_readable("mqtt-password-file", settings_.password_file);
  check_will();
  check_certificates(broker.scheme == "mqtts");
}

void MqttOptions::check_will() const {
  check_length("mqtt-will-topic", settings_.will_topic);
  check_length("mqtt-will-payload", settings_.will_payload);
  if (settings_.will_topic.empty() && !settings_.will_payload.empty()) {
    refuse("mqtt-will-payload has no mqtt-will-topic: set both");
  }
  if (settings_.will_topic.find_first_of("#+") != std::string::npos) {
    refuse("mqtt-will-topic \"" + settings_.will_topic +
           "\" has + or #, which are for those who subscribe: name one topic");
  }
}

void MqttOptions::check_certificates(bool is_tls) const {
  const TlsFiles files{.ca = settings_.ca_file,
                       .certificate = settings_.certificate_file,
                       .key = settings_.key_file};
  check_tls_files("mqtt", files);
  if (is_tls) {
    check_pem("mqtt", files, PassPhrase::kNone);
    Paho::get().openssl.check("mqtt", files);
  } else if (!(files.ca + files.certificate).empty()) {
    refuse(
        "mqtt-ca-file, mqtt-certificate-file and mqtt-key-file are of TLS, which location=mqtt:// "
        "is without: write mqtts://");
  }
}

void MqttOptions::set_login() {
  password_ = password_of("mqtt", settings_.password, settings_.password_file);
  check_length("the password for MQTT", password_);
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
  tls_.privateKeyPassword = "";  // else the library asks at the terminal, and waits
  tls_.enableServerCertAuth = 1;
  tls_.verify = 1;
  tls_.ssl_error_context = this;
  tls_.ssl_error_cb = [](const char* text, std::size_t size, void* self) {
    const MqttOptions& options = *static_cast<MqttOptions*>(self);
    const std::scoped_lock lock(options.mutex_);
    if (options.words_.size() < 1000) {
      options.words_.append(text, size);
    }
    return 1;
  };
  connect_.ssl = &tls_;
}

void MqttOptions::set_session() {
  const int begins_clean = keeps_session() ? 0 : 1;
  if (!is_version_5()) {
    connect_.cleansession = begins_clean;
    return;
  }
  connect_.cleanstart = begins_clean;
  if (!keeps_session()) return;
  MQTTProperty expiry{};
  expiry.identifier = MQTTPROPERTY_CODE_SESSION_EXPIRY_INTERVAL;
  expiry.value.integer4 = kSessionSeconds;
  Paho::get().add_property(&properties_, &expiry);
}

int MqttOptions::connect(MQTTClient client, bool& resumes) {
  const Attempt made = attempt(
      is_ending_, [&] { return is_version_5() ? connect5(client) : connect3(client, resumes); });
  if (made.is_given_up) {
    resumes = false;
  }
  return made.result;
}

int MqttOptions::connect3(MQTTClient client, bool& resumes) {
  const Paho& paho = Paho::get();
  const int result = paho.connect(client, &connect_);
  if (resumes && result == MQTTCLIENT_SUCCESS && connect_.returned.sessionPresent == 0) {
    resumes = false;
    paho.disconnect(client, 0);
  }
  return result;
}

/// A broker of MQTT 5 may say how many lines it takes at once.
int MqttOptions::connect5(MQTTClient client) {
  constexpr auto kReceiveMaximum = MQTTPROPERTY_CODE_RECEIVE_MAXIMUM;
  const Paho& paho = Paho::get();
  const MQTTResponse response = paho.connect5(client, &connect_, &properties_, nullptr);
  most_on_their_way_ = kMostOnTheirWay;
  if (response.properties && paho.has_property(response.properties, kReceiveMaximum) != 0) {
    const int most = paho.number_of(response.properties, kReceiveMaximum);
    most_on_their_way_ =
        std::clamp<std::size_t>(static_cast<std::size_t>(most), 1, kMostOnTheirWay);
  }
  return paho.take_code(response);
}

/// One that an earlier client has left, whose messages have the numbers that ours will have. What
/// begins clean here ends with its connection, so one that was given up and reaches the broker late
/// leaves no session either: an empty one would be taken for ours.
int MqttOptions::end_session(MQTTClient client) {
  if (!keeps_session()) return MQTTCLIENT_SUCCESS;
  const Paho& paho = Paho::get();
  if (is_version_5()) {
    connect_.cleanstart = 1;
    const int result = attempt(is_ending_, [&] {
                         return paho.take_code(paho.connect5(client, &connect_, nullptr, nullptr));
                       }).result;
    connect_.cleanstart = 0;
    if (result == MQTTCLIENT_SUCCESS) {
      paho.disconnect5(client, 0, MQTTREASONCODE_NORMAL_DISCONNECTION, nullptr);
    }
    return result;
  }
  connect_.cleansession = 1;
  const int result = attempt(is_ending_, [&] { return paho.connect(client, &connect_); }).result;
  connect_.cleansession = 0;
  if (result == MQTTCLIENT_SUCCESS) {
    paho.disconnect(client, 0);
  }
  return result;
}

/// Asks with 3.1.1: for MQTT 5 the library does not tell what the broker says of the session
/// (1.3.12). A broker of MQTT 5 may refuse that, and says no more of the session.
int MqttOptions::look_for_session(bool& is_kept) const {
  const Paho& paho = Paho::get();
  MQTTClient_connectOptions options = connect_;
  options.MQTTVersion = MQTTVERSION_3_1_1;
  options.cleansession = options.cleanstart = 0;
  options.will = nullptr;
  MQTTClient client = nullptr;
  int result = create(client, MQTTVERSION_3_1_1);
  if (result != MQTTCLIENT_SUCCESS) return result;
  result = paho.connect(client, &options);
  is_kept = false;
  if (result == MQTTCLIENT_SUCCESS) {
    is_kept = options.returned.sessionPresent != 0;
    paho.disconnect(client, 0);
  }
  paho.destroy(&client);
  if (!is_version_5() || result <= 0) return result;
  return result == kServerUnavailable ? MQTTREASONCODE_SERVER_UNAVAILABLE : MQTTCLIENT_SUCCESS;
}

/// The library searches with a lock held that all of its clients need. A name server may be slow.
std::optional<SocketAddress> MqttOptions::find_broker() const {
  try {
    return asked_by_paho(resolve(address_));
  } catch (const BadAddress& error) {
    const std::scoped_lock lock(mutex_);
    words_ = std::string("the location ") + error.what();
    return {};
  }
}

bool MqttOptions::is_reachable(const SocketAddress& address) {
  return gstnpu::is_reachable(address, std::chrono::seconds(kConnectTimeoutSeconds));
}

/// 0, or the library's code.
int MqttOptions::create(MQTTClient& client, int version) const {
  MQTTClient_createOptions options = MQTTClient_createOptions_initializer;
  options.MQTTVersion = version;
  return Paho::get().create(&client, server_.c_str(), client_id_.c_str(),
                            MQTTCLIENT_PERSISTENCE_NONE, nullptr, &options);
}

MQTTClient MqttOptions::make_client() const {
  MQTTClient client = nullptr;
  if (const int result = create(client, version()); result != MQTTCLIENT_SUCCESS) {
    refuse("cannot make an MQTT client \"" + client_id_ + "\" for " + server_ + " (error " +
           std::to_string(result) + "): check location and mqtt-client-id");
  }
  return client;
}

int MqttOptions::renew(MQTTClient& client) const {
  MQTTClient fresh = nullptr;
  const int result = create(fresh, version());
  if (result != MQTTCLIENT_SUCCESS) return result;
  Paho::get().destroy(&client);
  client = fresh;
  return result;
}

std::string MqttOptions::take_words() const {
  const std::scoped_lock lock(mutex_);
  return std::exchange(words_, {});
}

}  // namespace gstnpu
