#pragma once

#include <map>
#include <string>
#include <vector>

#include <npucore/frame.hpp>

namespace npu::ir {

using ModelInfo = std::map<std::string, std::string>;

/// What model_info, by the names of OpenVINO's Model API, says about the image input. A model that
/// names a resize_type but no pad_value wants black borders, as there.
Preprocess preprocess_from_hints(const ModelInfo& info, const FrameLayout& frame);
/// One sentence for each hint that is not followed.
std::vector<std::string> hint_warnings(const ModelInfo& info);

}  // namespace npu::ir
