// JSON helpers that all formats of npupublish share.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace gstnpu {

/// Not finite: null.
inline double rounded(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit + 0.0;  // and never -0.0
}

/// One line, with the newline. File names and labels may hold any bytes; the line is UTF-8 whatever
/// they are.
template <typename Json>
std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gstnpu
