#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "publish/clients/paho.hpp"

#include "broker_location.hpp"
#include "mqtt_settings.hpp"
#include "socket_address.hpp"

namespace gstnpu {

/// Options for the client library about a broker, and the texts that they point to.
class MqttOptions {
 public:
  /// Throws npu::Error where the settings are wrong or a file cannot be read. `is_ending`: nobody
  /// needs a connection any more.
  MqttOptions(const BrokerLocation& broker, const MqttSettings& settings,
              const std::atomic<bool>& is_ending);
  ~MqttOptions();
  MqttOptions(const MqttOptions&) = delete;
  MqttOptions& operator=(const MqttOptions&) = delete;

  /// A new client, which is not connected.
  MQTTClient make_client() const;
  /// In place of one that is not connected, and of all that it knows. 0, or the library's code.
  int renew(MQTTClient& client) const;
  /// Waits for the broker's answer, a few seconds at most. 0, its code, or below zero the
  /// library's. `resumes`: what the client has sent before is of a session that the broker has. It
  /// becomes false where a broker of 3.1.1 no longer has it, who is left again, and where the
  /// answer did not come in time: the broker may yet begin one.
  int connect(MQTTClient client, bool& resumes);
  /// Ends one of the same name at the broker, so that connect() begins one. As connect().
  int end_session(MQTTClient client);
  /// Address at which the library will look for the broker; nullopt where its host is not known, as
  /// take_words() then tells.
  std::optional<SocketAddress> find_broker() const;
  /// Whether somebody takes connections there, within the time that a broker has.
  static bool is_reachable(const SocketAddress& address);
  /// Connects and leaves again, as another client with the same name. As connect(), but below zero
  /// the broker may have begun a session.
  int look_for_session(bool& is_kept) const;
  bool is_version_5() const { return settings_.version == MqttVersion::k5; }
  /// Lines that go out twice when a connection breaks would arrive twice: the session survives it.
  bool keeps_session() const { return settings_.qos == 2; }

  /// Lines that may be on their way; the library holds up who sends more.
  std::size_t most_on_their_way() const { return most_on_their_way_; }

  /// Messages of OpenSSL, or of the search for the host, since the last call.
  std::string take_words() const;

 private:
  void check(const BrokerLocation& broker) const;
  void check_will() const;
  void check_certificates(bool is_tls) const;
  void set_login();
  void set_will();
  void set_tls();
  void set_session();
  int version() const { return is_version_5() ? MQTTVERSION_5 : MQTTVERSION_3_1_1; }
  int create(MQTTClient& client, int version) const;
  int connect3(MQTTClient client, bool& resumes);
  int connect5(MQTTClient client);

  const MqttSettings settings_;
  const std::atomic<bool>& is_ending_;
  const HostAndPort address_;
  const std::string server_, client_id_;
  std::string password_;
  MQTTClient_connectOptions connect_;
  MQTTClient_willOptions will_ = MQTTClient_willOptions_initializer;
  MQTTClient_SSLOptions tls_ = MQTTClient_SSLOptions_initializer;
  std::atomic<std::size_t> most_on_their_way_;  // read while another thread connects
  MQTTProperties properties_ = MQTTProperties_initializer;

  mutable std::mutex mutex_;  // guards words_, which the library's threads write
  mutable std::string words_;
};

}  // namespace gstnpu
