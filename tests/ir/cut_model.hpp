#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <npucore/model.hpp>
#include <npuvision/decoder.hpp>

#include "openvino_run.hpp"

namespace npu::test {

Bytes bytes_of(const std::vector<float>& values);
bool has_layer(const Model& model, const std::string& type);

/// Answer of the decoder for a model whose end was cut off: its first output is `raw`, the picture
/// 640x640. With key points of three values each it is a pose.
vision::Answer decoded(const Model& model, const std::vector<double>& raw,
                       std::uint32_t key_points = 0);

}  // namespace npu::test
