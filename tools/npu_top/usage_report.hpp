#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "usage.hpp"

/// Two tables. `sees_all`: whether other users' processes are seen too.
std::string to_text(const Usage& usage, bool sees_all);
nlohmann::ordered_json to_json(const Usage& usage, bool sees_all);

/// The part that fits a terminal without scrolling: fewer lines than rows, none longer than a row,
/// as those would take several. `columns` 0: unknown.
std::string cut_to_screen(std::string_view text, std::size_t rows, std::size_t columns);
