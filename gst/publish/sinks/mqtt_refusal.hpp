#pragma once

#include <string>

namespace gstnpu {

inline constexpr int kServerUnavailable = 3;  // of 3.1.1, in a CONNACK

/// Why a connection was not made, or a line not taken.
struct MqttRefusal {
  int code = 0;       ///< of a CONNACK or PUBACK, of either version; else below zero
  std::string words;  ///< OpenSSL's, or why the host has no address
};

std::string describe(const MqttRefusal& refusal, bool is_version_5);
/// Trying again cannot help: somebody has to mend settings, here or at the broker.
bool is_lasting(const MqttRefusal& refusal);

}  // namespace gstnpu
