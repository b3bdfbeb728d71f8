#pragma once

#include <string>
#include <utility>
#include <vector>

#include <npucore/properties.hpp>

/// The key and the value of KEY=VALUE. Throws npu::Error that names `option` for other words.
std::pair<std::string, std::string> split_key_value(const char* option, const std::string& words);

/// Properties from repeated --property KEY=VALUE. Throws npu::Error for an unknown name or a bad
/// value.
npu::Properties properties_from(const std::vector<std::string>& entries);
