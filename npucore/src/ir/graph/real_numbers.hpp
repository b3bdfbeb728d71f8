#pragma once

#include <optional>
#include <vector>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// The numbers that feed `input`: a constant's, perhaps stored as another type, or those of a
/// computation with constants. Nothing for none, for more than `most`, and for other computations.
std::optional<std::vector<double>> few_numbers(const Document& document, const Weights& weights,
                                               PortRef input, std::size_t most);

/// The input of the Convert that feeds `input`, as OpenVINO stores constants of f16; else `input`.
PortRef uncompressed(const Document& document, PortRef input);

}  // namespace npu::ir
