#pragma once

#include <optional>
#include <vector>

#include "ir/document.hpp"
#include "ir/weights.hpp"

namespace npu::ir {

/// The values of what feeds `input` when that is a constant of type f32, f16 or f64, or such a
/// constant behind a Convert (as compressed weights are); an empty list for more than `most`
/// values. Nothing when it is something else.
std::optional<std::vector<double>> constant_input(const Document& document, const Weights& weights,
                                                  PortRef input, std::size_t most);

}  // namespace npu::ir
