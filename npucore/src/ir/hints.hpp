#pragma once

#include <map>
#include <string>
#include <vector>

#include <npucore/frame.hpp>

namespace npu::ir {

using ModelInfo = std::map<std::string, std::string>;

/// The pre-processing that model_info gives for the image input, by the names of OpenVINO's Model
/// API. As there, a resize_type without a pad_value means black borders.
Preprocess preprocess_from_hints(const ModelInfo& info, const FrameLayout& frame);
/// One sentence for each hint that npucore does not follow.
std::vector<std::string> hint_warnings(const ModelInfo& info);

}  // namespace npu::ir
