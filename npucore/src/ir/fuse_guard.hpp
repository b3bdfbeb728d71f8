#pragma once

#include <string>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

namespace npu::ir {

/// Newer NPU compilers recognise a colour conversion written as Concat(Y, upsampled CbCr) ->
/// Convolution -> Add -> Clamp or FakeQuantize to [0,1] or [0,255], and replace it by their own
/// BT.601 limited-range conversion without looking at the weights (pass FuseColorConversion).
/// Returns one sentence for each such place that has other weights.
std::vector<std::string> color_fusion_warnings(const Document& document, const Weights& weights);

}  // namespace npu::ir
