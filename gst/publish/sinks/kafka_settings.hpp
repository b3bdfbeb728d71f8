#pragma once

#include <string>

namespace gstnpu {

enum class KafkaSasl { kPlain, kScramSha256, kScramSha512 };

/// How npupublish speaks to Kafka; docs/elements.md describes the properties. Empty texts are not
/// used.
struct KafkaSettings {
  bool tls = false;
  std::string ca_file, certificate_file, key_file;
  KafkaSasl sasl = KafkaSasl::kPlain;
  std::string user, password, password_file;
  std::string config;       ///< librdkafka's own, "KEY=VALUE,KEY=VALUE"
  std::string config_file;  ///< the same, one a line
};

}  // namespace gstnpu
