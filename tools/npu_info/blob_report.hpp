#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include <npucore/compiled_model.hpp>

nlohmann::ordered_json to_json(const npu::BlobInfo& blob);
std::string to_text(const npu::BlobInfo& blob);
