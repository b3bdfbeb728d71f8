#include "sink.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace gstnpu {
namespace {

using Kind = Location::Kind;

struct Scheme {
  std::string_view name;
  Kind kind;
  int port;  // where the location has none; 0: it needs one
  const char* form;
  MakeSink* make;  // null: built without
};
constexpr MakeSink* kMakeMqtt = GST_NPU_HAVE_MQTT ? make_mqtt_sink : nullptr;
constexpr MakeSink* kMakeKafka = GST_NPU_HAVE_KAFKA ? make_kafka_sink : nullptr;
constexpr std::array<Scheme, 7> kSchemes = {
    {{"file", Kind::kFile, 0, "file:PATH", make_file_sink},
     {"fd", Kind::kFile, 0, "fd:NUMBER", make_file_sink},
     {"unix", Kind::kUnix, 0, "unix:PATH", make_socket_sink},
     {"tcp", Kind::kTcp, 0, "tcp://HOST:PORT", make_socket_sink},
     {"mqtt", Kind::kMqtt, 1883, "mqtt://HOST[:PORT]/TOPIC", kMakeMqtt},
     {"mqtts", Kind::kMqtts, 8883, "mqtts://HOST[:PORT]/TOPIC", kMakeMqtt},
     {"kafka", Kind::kKafka, 0, "kafka://HOST[:PORT],.../TOPIC", kMakeKafka}}};

[[noreturn]] void refuse_scheme(const std::string& name) {
  std::string forms;
  for (const Scheme& known : kSchemes) forms += std::string(", ") + known.form;
  refuse("the location begins with \"" + name +
         "://\", which npupublish does not know: write a path" + forms);
}

void require(bool is_so, const Location& location, const Scheme& scheme,
             const std::string& else_it) {
  if (is_so) return;
  refuse("the location \"" + location.text + "\" " + else_it + ": write " + scheme.form);
}

void split_host(Location& location, const Scheme& scheme, const std::string& authority) {
  g_autofree gchar* host = nullptr;
  gint port = -1;
  g_autoptr(GError) error = nullptr;
  g_uri_split_network(("tcp://" + authority).c_str(), G_URI_FLAGS_NONE, nullptr, &host, &port,
                      &error);
  require(!error, location, scheme, error ? std::string("is none (") + error->message + ")" : "");
  location.host = host ? host : "";
  location.port = port < 0 ? scheme.port : port;
  require(location.port != 0 || location.host.empty(), location, scheme,
          "has no port from 1 to 65535");
}

void split_network(Location& location, const Scheme& scheme, const std::string& rest) {
  require(rest.starts_with("//"), location, scheme, "has no // behind its scheme");
  const std::size_t slash = std::min(rest.find('/', 2), rest.size());
  const std::string authority = rest.substr(2, slash - 2);
  // A password may hold a slash, and a topic of MQTT an @.
  if ((location.is_mqtt() ? authority : rest).find('@') != std::string::npos) {
    refuse(
        "the location names a user, and all who see the pipeline see it: write name and password "
        "into a file and name that in broker-config-file");
  }
  if (location.kind == Kind::kKafka) {
    location.host = authority;  // librdkafka looks at it
  } else {
    split_host(location, scheme, authority);
  }
  require(!location.host.empty(), location, scheme, "has no host");
  if (location.kind == Kind::kTcp) {
    return require(slash == rest.size(), location, scheme, "has a path");
  }
  location.topic = rest.substr(std::min(slash + 1, rest.size()));
  require(!location.topic.empty(), location, scheme, "has no topic");
}

}  // namespace

Location parse_location(const std::string& text) {
  Location location{.text = text};
  if (text.empty() || text == "-") {
    location.descriptor = STDOUT_FILENO;
    return location;
  }
  const char* peeked = g_uri_peek_scheme(text.c_str());  // in small letters
  const std::string name = peeked ? peeked : "";
  const auto scheme = std::find_if(kSchemes.begin(), kSchemes.end(),
                                   [&](const Scheme& known) { return known.name == name; });
  if (scheme == kSchemes.end()) {
    if (!name.empty() && text.substr(name.size()).starts_with("://")) {
      refuse_scheme(name);
    }
    location.path = text;
    return location;
  }
  location.kind = scheme->kind;
  const std::string rest = text.substr(name.size() + 1);
  if (scheme->kind != Kind::kFile && scheme->kind != Kind::kUnix) {
    split_network(location, *scheme, rest);
  } else if (scheme->name == "fd") {
    guint64 number = 0;
    require(g_ascii_string_to_unsigned(rest.c_str(), 10, 0, G_MAXINT, &number, nullptr), location,
            *scheme, "has no number of a descriptor");
    location.descriptor = static_cast<int>(number);
  } else {
    location.path = rest.substr(rest.starts_with("//") ? 2 : 0);  // file:///tmp/x has nobody's host
    require(!location.path.empty(), location, *scheme, "has no path");
  }
  return location;
}

std::string describe_location(const std::string& text) {
  return text.empty() || text == "-" ? "stdout" : "\"" + text + "\"";
}

std::unique_ptr<Sink> open_sink(const std::string& text, const SinkOptions& options,
                                Ledger& ledger) {
  const Location location = parse_location(text);
  if (!options.broker.empty() && location.topic.empty()) {
    refuse("broker-config and broker-config-file are for brokers, and the location is " +
           describe_location(text) +
           ": leave them out, or write mqtt://, mqtts:// or kafka://HOST/TOPIC");
  }
  const auto* scheme = std::find_if(kSchemes.begin(), kSchemes.end(), [&](const Scheme& known) {
    return known.kind == location.kind;
  });
  if (scheme->make) return scheme->make(location, options, ledger);
  refuse("this plugin was built without a library for " + std::string(scheme->name) +
         ": install libmosquitto-dev or librdkafka-dev and build it anew");
}

}  // namespace gstnpu
