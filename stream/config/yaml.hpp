// YAML as JSON, with the place of each value.
#pragma once

#include <map>
#include <string>

#include "problem.hpp"

namespace npustream {

struct Mark {
  int line = 0, column = 0;  // from 1; of the key, or of a list's item
  std::string text;  // a scalar as it is written: "012" is a text for a key that takes texts
};
/// Path, like "streams[2].source", to its place.
using Marks = std::map<std::string, Mark>;

std::string child(const std::string& path, const std::string& key);
std::string child(const std::string& path, std::size_t index);

/// Throws ConfigError for what is no YAML, has a key twice, or is too large or too deep.
Json parse_yaml(const std::string& text, const std::string& file, Marks* marks);
/// A value as YAML in block style, each line after the first indented by so many blanks.
std::string to_yaml(const Json& value, int indent);

}  // namespace npustream
