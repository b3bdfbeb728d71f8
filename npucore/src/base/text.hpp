#pragma once

#include <cstring>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

namespace npu::base {

/// The arguments as operator<< prints them, one after the other, in the classic locale whatever the
/// process has: machines read much of this text.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return std::move(out).str();
}

/// The text of a C array that may have no terminator.
template <std::size_t N>
std::string bounded_string(const char (&text)[N]) {
  return std::string(text, ::strnlen(text, N));
}

inline std::string quoted(std::string_view value) {
  return text('\'', value, '\'');
}

/// "No such file or directory (errno 2)".
std::string errno_text(int error);

/// ASCII letters in the other case, all else unchanged. toupper() and tolower() follow the locale,
/// and in Turkish "i" has no capital "I".
std::string upper(std::string words);
std::string lower(std::string words);
/// "YES", "True" or "1", in any case.
bool is_yes(const std::string& word);

/// The items with `separator` between them.
template <class Range>
std::string join(const Range& items, std::string_view separator) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  std::string_view before;
  for (const auto& item : items) {
    out << before << item;
    before = separator;
  }
  return std::move(out).str();
}

}  // namespace npu::base
