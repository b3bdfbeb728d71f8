#include <algorithm>
#include <sstream>

#include "sink.hpp"

namespace gstnpu {
namespace {

constexpr const char* kProperty = "broker-config";
constexpr const char* kFile = "broker-config-file";

std::string trimmed(std::string text) {
  return g_strstrip(text.data());
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return g_ascii_isalnum(letter) || letter == '.' || letter == '_' || letter == '-';
  });
}

bool is_secret(const std::string& key) {
  return key == "pw" || key.ends_with("key.pem") || key.find("password") != std::string::npos ||
         key.find("secret") != std::string::npos;
}

/// Reads an entry from each line.
void add_all(BrokerConfig& config, const std::string& text, const std::string& where) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string entry = trimmed(line);
    if (entry.empty() || entry.starts_with('#')) continue;
    const std::size_t sign = entry.find('=');
    const std::string key = trimmed(entry.substr(0, sign));
    if (sign == std::string::npos || !is_name(key)) {
      refuse(where + ": entry " + std::to_string(config.size() + 1) +
             " is not KEY=VALUE. Write one of the client library's names, = and its value");
    }
    if (where == kProperty && is_secret(key)) {
      refuse("broker-config: all who list processes would see the value of \"" + key +
             "\". Write it into a file and name that in broker-config-file");
    }
    config.emplace_back(key, trimmed(entry.substr(sign + 1)));
  }
}

std::string text_of(const std::string& file) {
  g_autofree gchar* text = nullptr;
  g_autoptr(GError) error = nullptr;
  if (!g_file_get_contents(file.c_str(), &text, nullptr, &error)) {
    refuse(std::string(kFile) + ": " + error->message + ". Name a file that can be read");
  }
  return text + (g_str_has_prefix(text, "\xef\xbb\xbf") ? 3 : 0);  // a byte order mark
}

/// Commas end entries as line breaks do, unless a backslash precedes them.
std::string as_lines(const std::string& property) {
  std::string lines;
  for (const char letter : property) {
    if (letter == ',' && lines.ends_with('\\')) {
      lines.back() = ',';
    } else {
      lines += letter == ',' ? '\n' : letter;
    }
  }
  return lines;
}

}  // namespace

BrokerConfig read_broker_config(const std::string& file, const std::string& property) {
  BrokerConfig config;
  if (!file.empty()) {
    add_all(config, text_of(file), kFile);
  }
  add_all(config, as_lines(property), kProperty);
  return config;
}

}  // namespace gstnpu
