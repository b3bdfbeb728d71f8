// MulticlassNms and MatrixNms at the end of a detector's graph.
#pragma once

#include <optional>

#include "tail.hpp"

namespace npu::ir {

/// Nothing unless the output is exactly the rows of such an operator.
std::optional<Tail> read_class_nms(const Document& document, const Weights& weights,
                                   PortRef output);

}  // namespace npu::ir
