#include "config.hpp"

#include <glib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "check.hpp"
#include "yaml.hpp"

namespace npustream {
namespace {

ServerConfig server_of(const Json& document, const std::string& path) {
  ServerConfig server;
  const auto found = document.find("server");
  if (found == document.end() || !found->is_object()) return server;
  server.address = found->value("address", server.address);
  server.port = found->value("port", server.port);
  if (const auto token = found->value("token-file", ""); !token.empty()) {
    server.token_file = std::filesystem::path(path).parent_path() / token;
  }
  server.is_enabled = found->value("enabled", true);
  return server;
}

/// A model of the stream's own takes the place of the defaults' cascade, and the other way round.
Json with_defaults(const Json& stream, const Json& defaults) {
  Json merged = defaults;
  if (stream.contains("model") || stream.contains("cascade")) {
    merged.erase("model");
    merged.erase("cascade");
  }
  for (const auto& [key, value] : stream.items()) merged[key] = value;
  return merged;
}

Config make_config(Json document, const std::string& path, const Marks& marks) {
  std::vector<Problem> problems = check(&document, marks);
  if (!problems.empty()) throw ConfigError(path, std::move(problems));
  Config config;
  config.file = path;
  config.server = server_of(document, path);
  config.models = document.value("models", Json::object());
  const Json defaults = document.contains("defaults") && document["defaults"].is_object()
                            ? document["defaults"]
                            : Json::object();
  for (const Json& stream : document["streams"]) {
    config.streams.push_back({stream["id"].get<std::string>(), with_defaults(stream, defaults),
                              std::filesystem::path(path).parent_path()});
  }
  config.document = std::move(document);
  return config;
}

}  // namespace

Config read_config(const std::string& path, std::string* text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError(path, {{"", error ? error.message() : "is not a regular file"}});
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream read;
  read << file.rdbuf();
  if (!file) throw ConfigError(path, {{"", "cannot be read: " + std::string(g_strerror(errno))}});
  Config config = parse_config(read.str(), path);
  if (text) {
    *text = read.str();
  }
  return config;
}

Config parse_config(const std::string& yaml, const std::string& path) {
  const gchar* end = nullptr;
  if (!g_utf8_validate(yaml.data(), static_cast<gssize>(yaml.size()), &end)) {
    throw ConfigError(path, {{"", "is not UTF-8 at byte " + std::to_string(end - yaml.data())}});
  }
  Marks marks;
  Json document = parse_yaml(yaml, path, &marks);
  return make_config(std::move(document), path, marks);
}

Config check_document(Json document, const std::string& path) {
  return make_config(std::move(document), path, {});
}

}  // namespace npustream
