// The file of npu-stream: what it may say, read and checked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace npustream {

/// A zone has three points or more, a line two; 0..1 of the frame.
struct Place {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct ServerConfig {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string token_file;
  bool is_enabled = true;  // false: no page, no REST
  bool operator==(const ServerConfig&) const = default;
};

/// A stream with the defaults filled in. `json` has the keys of the file, of this stream and of
/// `defaults`. Relative paths count from `folder`.
struct StreamConfig {
  std::string id;
  Json json;
  std::string folder;
  bool operator==(const StreamConfig&) const = default;
};

struct Config {
  std::string file;  // as given
  Json document;     // as the file has it
  ServerConfig server;
  Json models;  // name -> keys of a model
  std::vector<StreamConfig> streams;
};

/// Reads and checks a file. Throws ConfigError with all problems found. `text`: gets what was read.
Config read_config(const std::string& path, std::string* text = nullptr);
/// The same from a text; `path` is its name in errors, and relative paths in it count from that
/// file's folder.
Config parse_config(const std::string& yaml, const std::string& path);
/// Checks a document that was edited. Problems have no lines.
Config check_document(Json document, const std::string& path);

/// JSON Schema (2020-12) of the whole file; its "$defs" has "stream", "model" and "server".
Json config_schema();

}  // namespace npustream
