#pragma once

#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace npu::base {

/// The arguments as operator<< prints them, one after the other.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

inline std::string quoted(std::string_view value) {
  return text('\'', value, '\'');
}

/// "No such file or directory (errno 2)".
std::string errno_text(int error);

/// The items with `separator` between them.
template <class Range>
std::string join(const Range& items, std::string_view separator) {
  std::ostringstream out;
  std::string_view before;
  for (const auto& item : items) {
    out << before << item;
    before = separator;
  }
  return out.str();
}

}  // namespace npu::base
