#include "property_options.hpp"

#include <npucore/error.hpp>

std::pair<std::string, std::string> split_key_value(const char* option, const std::string& words) {
  const auto equals = words.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     std::string(option) + " needs KEY=VALUE, not '" + words + "'");
  }
  return {words.substr(0, equals), words.substr(equals + 1)};
}

npu::Properties properties_from(const std::vector<std::string>& entries) {
  npu::Properties properties;
  for (const auto& entry : entries) {
    const auto [key, value] = split_key_value("--property", entry);
    properties.set(key, value);
  }
  return properties;
}
