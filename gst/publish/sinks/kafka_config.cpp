#include "kafka_config.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include <npucore/error.hpp>

#include "publish/clients/broker_login.hpp"
#include "publish/clients/tls_files.hpp"

namespace gstnpu {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kProperty = "kafka-config";
constexpr const char* kFile = "kafka-config-file";

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// ---- The user's own configuration

/// Without reports npupublish would wait for them for ever, it begins no transactions, what nobody
/// reads would pile up while no line comes, and the location names the brokers.
constexpr std::array kNotForUsers = {"delivery.report.only.error", "transactional.id",
                                     "statistics.interval.ms", "bootstrap.servers",
                                     "metadata.broker.list"};

bool is_secret(std::string_view key) {
  return key.find("password") != std::string_view::npos ||
         key.find("secret") != std::string_view::npos || key.ends_with("key.pem");
}

void check_key(const std::string& key, const std::string& where) {
  if (std::find(kNotForUsers.begin(), kNotForUsers.end(), key) != kNotForUsers.end()) {
    refuse(where + ": npupublish needs its own value of \"" + key + "\": leave it out");
  }
  if (where == kProperty && is_secret(key)) {
    refuse("kafka-config: all who list processes would see the value of \"" + key +
           "\": write it into a file and name that in kafka-config-file");
  }
}

/// An entry may hold a password, also in front of the sign: the message shows none of it.
void add(Entries& entries, const std::string& text, const std::string& where) {
  const std::size_t sign = text.find('=');
  const std::string key = trimmed(text.substr(0, sign));
  if (sign == std::string::npos || !is_kafka_name(key)) {
    refuse(where + ": entry " + std::to_string(entries.size() + 1) +
           " is not KEY=VALUE: write entries as librdkafka's CONFIGURATION.md names them");
  }
  check_key(key, where);
  entries.emplace_back(key, trimmed(text.substr(sign + 1)));
}

Entries entries_of_file(const std::string& file) {
  Entries entries;
  std::istringstream stream(read_settings(kFile, file));
  for (std::string line; std::getline(stream, line);) {
    line = trimmed(line);
    if (!line.empty() && !line.starts_with('#')) {
      add(entries, line, kFile);
    }
  }
  return entries;
}

Entries entries_of_property(const std::string& text) {
  Entries entries;
  std::string entry;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      entry += text[++i];
    } else if (text[i] == ',') {
      add(entries, std::exchange(entry, {}), kProperty);
    } else {
      entry += text[i];
    }
  }
  if (!trimmed(entry).empty()) {
    add(entries, entry, kProperty);
  }
  return entries;
}

// ---- What npupublish's own properties mean

std::string text_of(const std::vector<HostAndPort>& addresses) {
  std::string text;
  for (const HostAndPort& address : addresses) {
    text += (text.empty() ? "" : ",") + to_text(address);
  }
  return text;
}

/// Lines wait for brokers as long as it takes, and arrive once and in order.
Entries usual_entries(const BrokerLocation& brokers) {
  return {{"bootstrap.servers", text_of(brokers.addresses)},
          {"client.id", "npupublish"},
          {"enable.idempotence", "true"},
          {"acks", "all"},
          {"message.timeout.ms", "0"},
          {"reconnect.backoff.max.ms", "5000"}};
}

const char* name_of(KafkaSasl sasl) {
  switch (sasl) {
    case KafkaSasl::kScramSha256:
      return "SCRAM-SHA-256";
    case KafkaSasl::kScramSha512:
      return "SCRAM-SHA-512";
    default:
      return "PLAIN";
  }
}

void add_login(Entries& entries, const KafkaSettings& settings) {
  check_readable("kafka-password-file", settings.password_file);
  if (settings.user.empty()) {
    if (settings.password.empty() && settings.password_file.empty()) return;
    refuse("a password for Kafka has no user: set kafka-user");
  }
  entries.emplace_back("sasl.mechanism", name_of(settings.sasl));
  entries.emplace_back("sasl.username", settings.user);
  entries.emplace_back("sasl.password",
                       password_of("kafka", settings.password, settings.password_file));
}

void add_tls(Entries& entries, const TlsFiles& files) {
  for (const auto& [key, file] : {std::pair("ssl.ca.location", files.ca),
                                  std::pair("ssl.certificate.location", files.certificate),
                                  std::pair("ssl.key.location", files.key)}) {
    if (!file.empty()) {
      entries.emplace_back(key, file);
    }
  }
}

/// When librdkafka makes a producer it checks that the key is the certificate's, and that the pass
/// phrase is the key's.
void check_tls(const TlsFiles& files, bool is_tls, const Entries& of_user) {
  check_tls_files("kafka", files);
  if (!is_tls && !(files.ca + files.certificate).empty()) {
    refuse("certificates for Kafka are of no use without TLS: set kafka-tls");
  }
  const bool has_pass_phrase = std::any_of(of_user.begin(), of_user.end(), [](const auto& entry) {
    return entry.first == "ssl.key.password";
  });
  check_pem("kafka", files, has_pass_phrase ? PassPhrase::kKnown : PassPhrase::kNone);
}

/// The field's words for the four.
const char* protocol_of(const KafkaSettings& settings) {
  if (settings.user.empty()) return settings.tls ? "ssl" : "plaintext";
  return settings.tls ? "sasl_ssl" : "sasl_plaintext";
}

}  // namespace

Entries read_kafka_config(const BrokerLocation& brokers, const KafkaSettings& settings) {
  Entries of_user =
      settings.config_file.empty() ? Entries() : entries_of_file(settings.config_file);
  const Entries of_property = entries_of_property(settings.config);
  of_user.insert(of_user.end(), of_property.begin(), of_property.end());
  Entries entries = usual_entries(brokers);
  entries.emplace_back("security.protocol", protocol_of(settings));
  add_login(entries, settings);
  const TlsFiles files{
      .ca = settings.ca_file, .certificate = settings.certificate_file, .key = settings.key_file};
  check_tls(files, settings.tls, of_user);
  add_tls(entries, files);
  entries.insert(entries.end(), of_user.begin(), of_user.end());
  return entries;
}

}  // namespace gstnpu
