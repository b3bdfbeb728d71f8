// Parses foreign files into plain values, whatever those mean.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace npu::vision {

using Tree = nlohmann::json;

/// Limits of a file; larger ones are refused.
struct TreeLimits {
  static constexpr std::size_t kDepth = 32;
  static constexpr std::size_t kValues = std::size_t{1} << 18;
  static constexpr std::size_t kCopiedBytes = std::size_t{1} << 20;  ///< copied for YAML's aliases
};

/// Both throw Error(kInvalidArgument) that names `place` for text that is not UTF-8, not JSON or
/// YAML, has a key twice, or exceeds the limits. Python's NaN and infinite numbers in JSON become
/// null.
Tree parse_json(const std::string& text, const std::string& place);
/// Parses the first document. Scalars are strings or null. An alias may stand for a list of words,
/// as Ultralytics writes the key points of several classes; other aliases are refused.
Tree parse_yaml(const std::string& text, const std::string& place);

bool is_utf8(const std::string& text);
/// Windows editors start UTF-8 files with it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// Cuts UTF-8 that is longer than `most` bytes between two characters and adds "...".
std::string shortened(const std::string& text, std::size_t most);
/// Quotes and shortens text for an error message.
std::string shown(const std::string& text);

}  // namespace npu::vision
