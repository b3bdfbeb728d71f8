#pragma once

#include <optional>
#include <string>

#include <npucore/compiler.hpp>

/// "4534 us at 1850 MHz, without Interpolate", for people.
std::string estimate_text(const std::optional<npu::LatencyEstimate>& estimate);
