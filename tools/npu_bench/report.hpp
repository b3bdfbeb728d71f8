#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "benchmark.hpp"

nlohmann::ordered_json to_json(const Arguments& arguments, const Benchmark& benchmark);
std::string to_text(const Arguments& arguments, const Benchmark& benchmark);
