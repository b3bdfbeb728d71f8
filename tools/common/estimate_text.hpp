#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <npucore/compiler.hpp>

/// "4534 us at 1850 MHz, by the compiler's estimate, without Interpolate", for people.
std::string estimate_text(const std::optional<npu::LatencyEstimate>& estimate);
/// null if there is none.
nlohmann::ordered_json estimate_json(const std::optional<npu::LatencyEstimate>& estimate);
