#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "comparison.hpp"

nlohmann::ordered_json to_json(const Arguments& arguments, const Comparison& comparison);
std::string to_text(const Arguments& arguments, const Comparison& comparison);
