#include "broker_config.hpp"

#include <glib.h>

#include <memory>
#include <string_view>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr const char* kProperty = "broker-config";
constexpr const char* kFile = "broker-config-file";

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                              "XYZ0123456789._-") == std::string::npos;
}

bool is_secret(const std::string& key) {
  return key == "pw" || key.ends_with("key.pem") || key.find("password") != std::string::npos ||
         key.find("secret") != std::string::npos;
}

void add(BrokerConfig& config, const std::string& text, const char* where) {
  const std::string entry = trimmed(text);
  if (entry.empty() || entry.starts_with('#')) return;
  const std::size_t sign = entry.find('=');
  const std::string key = trimmed(entry.substr(0, sign));
  if (sign == std::string::npos || !is_name(key)) {
    refuse(std::string(where) + ": entry " + std::to_string(config.size() + 1) +
           " is not KEY=VALUE. Write one of the client library's names, = and its value");
  }
  if (where == kProperty && is_secret(key)) {
    refuse("broker-config: all who list processes would see the value of \"" + key +
           "\". Write it into a file and name that in broker-config-file");
  }
  config.emplace_back(key, trimmed(entry.substr(sign + 1)));
}

std::string text_of(const std::string& file) {
  gchar* text = nullptr;
  GError* error = nullptr;
  if (g_file_get_contents(file.c_str(), &text, nullptr, &error) == 0) {
    const std::string why = error->message;
    g_error_free(error);
    refuse(std::string(kFile) + ": " + why + ". Name a file that can be read");
  }
  const std::unique_ptr<gchar, decltype(&g_free)> owner(text, g_free);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // as some editors write it
  const std::string_view whole = text;
  return std::string(whole.substr(whole.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
}

/// Entries end with `separator`, unless a backslash precedes it.
void add_all(BrokerConfig& config, const std::string& text, char separator, const char* where) {
  std::string entry;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator) {
      add(config, std::exchange(entry, {}), where);
    } else {
      i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] == separator ? 1 : 0;
      entry += text[i];
    }
  }
  add(config, entry, where);
}

}  // namespace

BrokerConfig read_broker_config(const std::string& file, const std::string& property) {
  BrokerConfig config;
  if (!file.empty()) {
    add_all(config, text_of(file), '\n', kFile);
  }
  add_all(config, property, ',', kProperty);
  return config;
}

}  // namespace gstnpu
