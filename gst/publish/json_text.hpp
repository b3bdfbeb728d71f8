// JSON helpers that all formats of npupublish share.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gstnpu {

constexpr double kUnitSteps = 1e6;  ///< of confidences and other numbers from 0 to 1

/// Not finite: null.
inline double rounded(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit + 0.0;  // and never -0.0
}
inline double in_units(double value) {
  return rounded(value, kUnitSteps);
}
inline double rounded(const std::optional<double>& value, double steps_per_unit) {
  return rounded(value.value_or(NAN), steps_per_unit);
}

/// Adds a value that there is, as `to` makes it, or a text that says something.
template <typename Json, typename Value, typename To = std::identity>
void add(Json& json, const char* key, const std::optional<Value>& value, const To& to = {}) {
  if (value) {
    json[key] = std::invoke(to, *value);
  }
}
template <typename Json>
void add(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) {
    json[key] = text;
  }
}

/// One line, with the newline. File names and labels may hold any bytes; the line is UTF-8 whatever
/// they are.
template <typename Json>
std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gstnpu
