// Files that others wrote, as plain values, before anybody knows what they mean.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace npu::vision {

using Tree = nlohmann::json;

/// What a file may be made of; more is refused.
struct TreeLimits {
  static constexpr std::size_t kDepth = 32;
  static constexpr std::size_t kValues = std::size_t{1} << 18;
  static constexpr std::size_t kCopiedBytes = std::size_t{1} << 20;  ///< by YAML's aliases
};

/// Both throw Error(kInvalidArgument) that names `place` for text that is not UTF-8, is no JSON or
/// YAML, has a key twice, or goes beyond the limits.
/// What JSON calls NaN or infinite, as Python writes it, is null.
Tree parse_json(const std::string& text, const std::string& place);
/// The first document. Scalars are strings, or null. An alias may stand for a list of words, as
/// Ultralytics writes the key points of several classes; others are refused.
Tree parse_yaml(const std::string& text, const std::string& place);

bool is_utf8(const std::string& text);
/// UTF-8 that has more than `most` bytes, cut between two characters, with "..." behind.
std::string shortened(const std::string& text, std::size_t most);
/// For error messages: in quotes, and not longer than fits into one.
std::string shown(const std::string& text);

}  // namespace npu::vision
