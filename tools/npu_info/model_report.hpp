#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include <npucore/model.hpp>

/// An IR's name, inputs and outputs.
nlohmann::ordered_json to_json(const npu::Model& model);
std::string to_text(const npu::Model& model);
