#pragma once

#include <string>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

namespace npu::ir {

/// Newer NPU compilers recognise a colour conversion written as Concat(Y, upsampled CbCr) ->
/// Convolution -> Add -> Clamp or FakeQuantize to [0,1] or [0,255], and put their own BT.601
/// limited-range conversion in its place without looking at the weights (pass
/// FuseColorConversion). One sentence for each such place whose weights say something else.
std::vector<std::string> color_fusion_warnings(const Document& document, const Weights& weights);

}  // namespace npu::ir
