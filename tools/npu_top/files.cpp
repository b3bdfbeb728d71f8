#include "files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path, std::size_t most_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::string text(most_bytes, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < most_bytes && (got = ::read(file, text.data() + size, most_bytes - size)) > 0) {
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (got < 0) return std::nullopt;
  text.resize(size);
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const bool is_number = error == std::errc() && stop == end;
  return is_number ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> read_number(const fs::path& path) {
  constexpr std::size_t kLongest = 64;
  const auto text = read_text(path, kLongest);
  return text ? number_of(trimmed(*text)) : std::nullopt;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  while (!error && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string target_of(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}
