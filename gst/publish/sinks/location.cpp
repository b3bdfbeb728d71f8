#include "location.hpp"

#include <glib.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

using Kind = Location::Kind;

struct Scheme {
  std::string_view begin;
  Kind kind;
  int port;  // where the location has none; 0: it needs one
  std::string_view form;
};
constexpr std::array<Scheme, 7> kSchemes = {
    {{"file:", Kind::kFile, 0, "file:PATH"},
     {"fd:", Kind::kFile, 0, "fd:NUMBER"},
     {"unix:", Kind::kUnix, 0, "unix:PATH"},
     {"tcp://", Kind::kTcp, 0, "tcp://HOST:PORT"},
     {"mqtt://", Kind::kMqtt, 1883, "mqtt://HOST[:PORT]/TOPIC"},
     {"mqtts://", Kind::kMqtts, 8883, "mqtts://HOST[:PORT]/TOPIC"},
     {"kafka://", Kind::kKafka, 9092, "kafka://HOST[:PORT],.../TOPIC"}}};

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

[[noreturn]] void refuse(const Location& location, const Scheme& scheme, const std::string& why) {
  refuse("the location \"" + location.text + "\" " + why + ": write " + std::string(scheme.form));
}

const Scheme* scheme_of(const std::string& text) {
  for (const Scheme& scheme : kSchemes) {
    if (text.starts_with(scheme.begin)) return &scheme;
  }
  return nullptr;
}

/// "tcp:HOST", which would be a file.
void check_slashes(const Location& location) {
  for (const Scheme& scheme : kSchemes) {
    const std::string_view name = scheme.begin.substr(0, scheme.begin.find(':') + 1);
    if (location.text.starts_with(name)) {
      refuse(location, scheme, "has no // behind its scheme");
    }
  }
}

/// A file of an unknown scheme's name would be a surprise.
void check_unknown_scheme(const std::string& text) {
  const std::size_t end = text.find("://");
  const bool is_path =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") !=
      end;
  if (end == std::string::npos || is_path) return;
  std::string forms;
  for (const Scheme& known : kSchemes) forms += std::string(", ") + std::string(known.form);
  refuse("the location begins with \"" + text.substr(0, end) +
         "://\", which npupublish does not know: write a path" + forms);
}

void split_host(Location& location, const Scheme& scheme, const std::string& authority) {
  gchar* host = nullptr;
  gint port = -1;
  GError* error = nullptr;
  const std::string uri = std::string(scheme.begin) + authority;
  if (g_uri_split_network(uri.c_str(), G_URI_FLAGS_NONE, nullptr, &host, &port, &error) == 0) {
    const std::string why = error->message;
    g_error_free(error);
    refuse(location, scheme, "is none (" + why + ")");
  }
  location.host = host ? host : "";
  location.port = port > 0 ? port : scheme.port;
  g_free(host);
  if (location.host.empty()) {
    refuse(location, scheme, "has no host");
  }
  if (port == 0 || location.port == 0) {
    refuse(location, scheme, "has no port from 1 to 65535");
  }
}

void split_network(Location& location, const Scheme& scheme) {
  const std::string rest = location.text.substr(scheme.begin.size());
  const std::size_t slash = rest.find('/');
  const bool is_broker = scheme.kind != Kind::kTcp;
  // A password may hold a slash, and a topic of MQTT an @.
  const std::string authority = rest.substr(0, slash);
  if (authority.find('@') != std::string::npos ||
      (rest.find('@') != std::string::npos && !location.is_mqtt())) {
    refuse(
        "the location names a user, and all who see the pipeline see it: write name and password "
        "into a file and name that in broker-config-file");
  }
  if (scheme.kind == Kind::kKafka) {
    location.host = authority;  // librdkafka looks at it
  } else {
    split_host(location, scheme, authority);
  }
  if (slash != std::string::npos) {
    location.topic = rest.substr(slash + 1);
  }
  if (is_broker && (location.topic.empty() || location.host.empty())) {
    refuse(location, scheme, location.host.empty() ? "has no host" : "has no topic");
  }
  if (!is_broker && slash != std::string::npos) {
    refuse(location, scheme, "has a path");
  }
}

/// -1: it is none.
int descriptor_of(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoi(text) : -1;
}

}  // namespace

Location parse_location(const std::string& text) {
  Location location{.text = text};
  if (text.empty() || text == "-") {
    location.descriptor = STDOUT_FILENO;
    return location;
  }
  const Scheme* scheme = scheme_of(text);
  if (!scheme) {
    check_slashes(location);
    check_unknown_scheme(text);
    location.path = text;
    return location;
  }
  location.kind = scheme->kind;
  if (scheme->kind != Kind::kFile && scheme->kind != Kind::kUnix) {
    split_network(location, *scheme);
    return location;
  }
  location.path = text.substr(scheme->begin.size());
  if (scheme->begin == "fd:") {
    location.descriptor = descriptor_of(std::exchange(location.path, {}));
    if (location.descriptor < 0) {
      refuse(location, *scheme, "has no number of a descriptor");
    }
    return location;
  }
  if (location.path.starts_with("//")) {  // file:///tmp/x, with nobody's host
    location.path.erase(0, 2);
  }
  if (location.path.empty()) {
    refuse(location, *scheme, "has no path");
  }
  return location;
}

std::string describe_location(const std::string& text) {
  return text.empty() || text == "-" ? "stdout" : "\"" + text + "\"";
}

}  // namespace gstnpu
