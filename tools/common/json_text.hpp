#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Indented, in ASCII: names come from other people, and may hold bytes that are no UTF-8.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}
