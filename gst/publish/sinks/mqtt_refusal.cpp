#include "mqtt_refusal.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "publish/clients/paho.hpp"

namespace gstnpu {
namespace {

constexpr std::array<const char*, 6> kOldReasons = {
    "accepted",          "it does not speak MQTT 3.1.1", "it does not take the client id",
    "it is unavailable", "bad user name or password",    "not authorized"};
/// Reasons of MQTT 5 that pass by themselves.
constexpr std::array kPassing = {
    MQTTREASONCODE_UNSPECIFIED_ERROR,  MQTTREASONCODE_IMPLEMENTATION_SPECIFIC_ERROR,
    MQTTREASONCODE_SERVER_UNAVAILABLE, MQTTREASONCODE_SERVER_BUSY,
    MQTTREASONCODE_QUOTA_EXCEEDED,     MQTTREASONCODE_CONNECTION_RATE_EXCEEDED};
/// OpenSSL's words, because its numbers differ between versions: for certificates, keys and
/// versions that do not fit, and for a broker that speaks no TLS.
constexpr std::array kLastingTls = {"certificate verify failed", "alert", "wrong version number",
                                    "key values mismatch", "no start line"};

}  // namespace

std::string describe(const MqttRefusal& refusal, bool is_version_5) {
  std::string words = refusal.words.substr(0, refusal.words.find('\n'));
  if (!words.empty()) return words;
  if (is_version_5 && refusal.code >= MQTTREASONCODE_UNSPECIFIED_ERROR) {
    const char* name = Paho::get().describe_reason(static_cast<MQTTReasonCodes>(refusal.code));
    if (name != nullptr) return name;
  }
  if (!is_version_5 && refusal.code > 0 && refusal.code < std::ssize(kOldReasons)) {
    return kOldReasons[static_cast<std::size_t>(refusal.code)];
  }
  if (refusal.code == MQTTCLIENT_FAILURE) return "no connection, or no answer";
  if (refusal.code == MQTTCLIENT_DISCONNECTED) return "it has ended the connection";
  const char* text = Paho::get().describe(refusal.code);
  return text ? text : "error " + std::to_string(refusal.code);
}

bool is_lasting(const MqttRefusal& refusal) {
  if (std::any_of(kLastingTls.begin(), kLastingTls.end(), [&](const char* words) {
        return refusal.words.find(words) != std::string::npos;
      })) {
    return true;
  }
  if (refusal.code <= 0 || refusal.code == kServerUnavailable) return false;
  return std::find(kPassing.begin(), kPassing.end(), refusal.code) == kPassing.end();
}

}  // namespace gstnpu
