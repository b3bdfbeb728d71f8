#pragma once

#include <string>

namespace gstnpu {

/// A parsed `location` of npupublish.
struct Location {
  enum class Kind { kFile, kUnix, kTcp, kMqtt, kMqtts, kKafka };

  Kind kind = Kind::kFile;
  std::string text;     ///< as the user wrote it, for messages
  std::string path;     ///< of kFile and kUnix
  int descriptor = -1;  ///< of kFile, in place of the path: one that the process began with
  std::string host;     ///< of kTcp and MQTT; of kKafka the list HOST[:PORT],...
  int port = 0;         ///< of kTcp and MQTT
  std::string topic;    ///< of brokers

  bool is_mqtt() const { return kind == Kind::kMqtt || kind == Kind::kMqtts; }
};

/// Throws PublishError where it is none. One that names a user is refused, and not shown: all who
/// see the pipeline would see the password.
Location parse_location(const std::string& text);

/// Names the destination in the user's words, for messages.
std::string describe_location(const std::string& text);

}  // namespace gstnpu
