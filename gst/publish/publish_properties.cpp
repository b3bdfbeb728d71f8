#include "publish_properties.hpp"

namespace gstnpu {
namespace {

GType policy_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(PublishPolicy::kBlock), "Frames wait for room; a failure is an error",
       "block"},
      {static_cast<gint>(PublishPolicy::kDropOld),
       "The oldest line is dropped; a failure costs the line alone", "drop-old"},
      {static_cast<gint>(PublishPolicy::kDropNew),
       "The new line is dropped; a failure costs the line alone", "drop-new"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuPublishPolicy", values);
  return type;
}

GType format_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(PublishFormat::kNpu), "As docs/json.md describes it", "npu"},
      {static_cast<gint>(PublishFormat::kDlstreamer),
       "As DL Streamer's gvametaconvert writes it: objects, resolution, timestamp", "dlstreamer"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuPublishFormat", values);
  return type;
}

GType file_format_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(PublishFileFormat::kJsonLines), "A line for each frame", "json-lines"},
      {static_cast<gint>(PublishFileFormat::kJson), "One array of all frames, in a regular file",
       "json"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuPublishFileFormat", values);
  return type;
}

GType mqtt_version_type() {
  static const GEnumValue values[] = {{static_cast<gint>(MqttVersion::k311), "MQTT 3.1.1", "3.1.1"},
                                      {static_cast<gint>(MqttVersion::k5), "MQTT 5", "5.0"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuPublishMqttVersion", values);
  return type;
}

GType kafka_sasl_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(KafkaSasl::kPlain), "The password itself, so with TLS only", "plain"},
      {static_cast<gint>(KafkaSasl::kScramSha256), "SCRAM with SHA-256", "scram-sha-256"},
      {static_cast<gint>(KafkaSasl::kScramSha512), "SCRAM with SHA-512", "scram-sha-512"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuPublishKafkaSasl", values);
  return type;
}

using Rows = std::vector<Property<PublishState>>;

// A password shows in no list of properties.
constexpr auto kSecret = static_cast<GParamFlags>(kUntilReady & ~G_PARAM_READABLE);

/// A member of a part of the settings.
template <auto part, auto member>
Property<PublishState> property_of(GParamSpec* spec) {
  return {spec,
          [](PublishState& state, const GValue* value) {
            state.change_settings(
                [value](PublishSettings& settings) { read(value, settings.*part.*member); });
          },
          [](const PublishState& state, GValue* value) {
            write(state.settings().*part.*member, value);
          }};
}

template <auto member>
Property<PublishState> mqtt_property(GParamSpec* spec) {
  return property_of<&PublishSettings::mqtt, member>(spec);
}

template <auto member>
Property<PublishState> mqtt_text(const char* name, const char* nick, const char* blurb,
                                 GParamFlags flags = kUntilReady) {
  return mqtt_property<member>(g_param_spec_string(name, nick, blurb, "", flags));
}

template <auto member>
Property<PublishState> kafka_property(GParamSpec* spec) {
  return property_of<&PublishSettings::kafka, member>(spec);
}

template <auto member>
Property<PublishState> kafka_text(const char* name, const char* nick, const char* blurb,
                                  GParamFlags flags = kUntilReady) {
  return kafka_property<member>(g_param_spec_string(name, nick, blurb, "", flags));
}

void add_mqtt_properties(Rows& rows) {
  using M = MqttSettings;
  const M defaults;
  const Rows mqtt = {
      mqtt_text<&M::client_id>("mqtt-client-id", "MQTT client id",
                               "Name at the broker, used by nobody else; empty: a random one"),
      mqtt_text<&M::user>("mqtt-user", "MQTT user", "User at the broker; empty: none"),
      mqtt_text<&M::password>("mqtt-password", "MQTT password",
                              "Password of the user, which all who see the command line see; "
                              "empty: mqtt-password-file, else the variable NPU_MQTT_PASSWORD",
                              kSecret),
      mqtt_text<&M::password_file>("mqtt-password-file", "MQTT password file",
                                   "File whose first line is the password of the user"),
      mqtt_property<&M::qos>(
          g_param_spec_uint("mqtt-qos", "MQTT quality of service",
                            "Lines arrive 0: at most once, 1: at least once, 2: exactly once", 0, 2,
                            defaults.qos, kUntilReady)),
      mqtt_property<&M::retain>(g_param_spec_boolean(
          "mqtt-retain", "MQTT retain", "The broker keeps the last line for later subscribers",
          FALSE, kUntilReady)),
      mqtt_property<&M::version>(
          g_param_spec_enum("mqtt-version", "MQTT version", "Version of the protocol",
                            mqtt_version_type(), static_cast<gint>(defaults.version), kUntilReady)),
      mqtt_property<&M::keep_alive_s>(g_param_spec_uint(
          "mqtt-keep-alive", "MQTT keep-alive",
          "Seconds without a message after which both sides ask for a sign of life; 0: never", 0,
          65535, defaults.keep_alive_s, kUntilReady)),
      mqtt_text<&M::ca_file>("mqtt-ca-file", "MQTT CA file",
                             "Certificates (PEM) that the broker's must be signed by; empty: the "
                             "system's"),
      mqtt_text<&M::certificate_file>("mqtt-certificate-file", "MQTT certificate file",
                                      "Certificate (PEM) of this client; empty: none"),
      mqtt_text<&M::key_file>("mqtt-key-file", "MQTT key file",
                              "Key (PEM) of mqtt-certificate-file"),
      mqtt_text<&M::will_topic>("mqtt-will-topic", "MQTT will topic",
                                "Topic of what the broker publishes when this client is gone "
                                "without a word; empty: nothing"),
      mqtt_text<&M::will_payload>("mqtt-will-payload", "MQTT will payload",
                                  "What the broker publishes then")};
  rows.insert(rows.end(), mqtt.begin(), mqtt.end());
}

void add_kafka_properties(Rows& rows) {
  using K = KafkaSettings;
  const K defaults;
  const Rows kafka = {
      kafka_property<&K::tls>(g_param_spec_boolean("kafka-tls", "Kafka TLS", "Connect with TLS",
                                                   defaults.tls ? TRUE : FALSE, kUntilReady)),
      kafka_text<&K::ca_file>("kafka-ca-file", "Kafka CA file",
                              "Certificates (PEM) that the brokers' must be signed by; empty: the "
                              "system's"),
      kafka_text<&K::certificate_file>("kafka-certificate-file", "Kafka certificate file",
                                       "Certificate (PEM) of this client; empty: none"),
      kafka_text<&K::key_file>("kafka-key-file", "Kafka key file",
                               "Key (PEM) of kafka-certificate-file"),
      kafka_text<&K::user>("kafka-user", "Kafka user",
                           "User at the brokers, who logs in with SASL; empty: none"),
      kafka_text<&K::password>("kafka-password", "Kafka password",
                               "Password of the user, which all who see the command line see; "
                               "empty: kafka-password-file, else the variable NPU_KAFKA_PASSWORD",
                               kSecret),
      kafka_text<&K::password_file>("kafka-password-file", "Kafka password file",
                                    "File whose first line is the password of the user"),
      kafka_property<&K::sasl>(g_param_spec_enum(
          "kafka-sasl", "Kafka SASL", "How the user shows that he knows the password",
          kafka_sasl_type(), static_cast<gint>(defaults.sasl), kUntilReady)),
      kafka_text<&K::config>("kafka-config", "Kafka configuration",
                             "Further configuration of librdkafka, KEY=VALUE,KEY=VALUE; a comma in "
                             "a value is written \\,"),
      kafka_text<&K::config_file>("kafka-config-file", "Kafka configuration file",
                                  "File with the same, KEY=VALUE in each line, such as secrets")};
  rows.insert(rows.end(), kafka.begin(), kafka.end());
}

Rows own_properties() {
  using S = PublishState;
  const PublishSettings defaults;
  return {
      property<S, &PublishSettings::location>(g_param_spec_string(
          "location", "Location",
          "File to write, tcp://HOST:PORT, unix:PATH, mqtt://HOST[:PORT]/TOPIC, mqtts://... or "
          "kafka://HOST[:PORT],.../TOPIC; empty or \"-\": the standard output",
          "", kUntilReady)),
      property<S, &PublishSettings::append>(g_param_spec_boolean(
          "append", "Append", "Add to what the file already holds", FALSE, kUntilReady)),
      property<S, &PublishSettings::flush>(g_param_spec_boolean(
          "flush", "Flush",
          "Write each line to a regular file immediately; other outputs always get it immediately",
          FALSE, kUntilReady)),
      property<S, &PublishSettings::tensors>(g_param_spec_boolean(
          "tensors", "Tensors", "Add the name, type and shape of each tensor", FALSE, kUntilReady)),
      property<S, &PublishSettings::format>(
          g_param_spec_enum("format", "Format", "What a frame's JSON looks like", format_type(),
                            static_cast<gint>(defaults.format), kUntilReady)),
      property<S, &PublishSettings::file_format>(g_param_spec_enum(
          "file-format", "File format", "How the frames of a file are told apart",
          file_format_type(), static_cast<gint>(defaults.file_format), kUntilReady)),
      property<S, &PublishSettings::stream_id>(g_param_spec_string(
          "stream-id", "Stream id", "Name of the stream, as \"stream\" in each line; empty: none",
          "", kUntilReady)),
      property<S, &PublishSettings::wall_clock>(g_param_spec_boolean(
          "wall-clock", "Wall clock", "Add when the frame was taken, in UTC, as \"time\"", FALSE,
          kUntilReady)),
      property<S, &PublishSettings::policy>(g_param_spec_enum(
          "policy", "Policy", "What becomes of lines that there is no room for, and of failures",
          policy_type(), static_cast<gint>(defaults.policy), kUntilReady)),
      property<S, &PublishSettings::queue_size>(
          g_param_spec_uint("queue-size", "Queue size", "Lines that may wait to be written", 1,
                            1000000, defaults.queue_size, kUntilReady)),
      property<S, &PublishSettings::drain_time_ms>(g_param_spec_uint(
          "drain-time", "Drain time", "How long a stop waits until lines are out, milliseconds", 0,
          3600000, defaults.drain_time_ms, kUntilReady)),
      property<S, &PublishSettings::eos_time_ms>(
          g_param_spec_uint("eos-time", "End of stream time",
                            "How long the end of the stream waits until lines are out, "
                            "milliseconds; 0: as long as it takes where policy is block, else "
                            "drain-time",
                            0, 3600000, 0, kUntilReady)),
      {g_param_spec_boxed("stats", "Statistics",
                          "Lines since start: published, dropped, failed, queued",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr, [](const S& state, GValue* value) { g_value_take_boxed(value, state.stats()); }},
  };
}

}  // namespace

std::vector<Property<PublishState>> publish_properties() {
  Rows rows = own_properties();
  add_mqtt_properties(rows);
  add_kafka_properties(rows);
  return rows;
}

}  // namespace gstnpu
