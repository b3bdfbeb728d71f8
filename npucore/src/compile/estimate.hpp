#pragma once

#include <optional>
#include <string>

#include <npucore/compiler.hpp>

namespace npu::internal {

/// The compiler's estimate, from what it prints with LOG_LEVEL=LOG_INFO; nothing where it prints
/// none.
std::optional<LatencyEstimate> read_estimate(const std::string& printed);

}  // namespace npu::internal
