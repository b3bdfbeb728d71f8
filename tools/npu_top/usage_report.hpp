#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "usage.hpp"

/// Two tables. `sees_all`: whether other users' processes are seen, too.
std::string to_text(const Usage& usage, bool sees_all);
nlohmann::ordered_json to_json(const Usage& usage, bool sees_all);
