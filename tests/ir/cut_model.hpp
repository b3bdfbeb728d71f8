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

/// What the decoder of a model whose end was cut off says of its first output, `raw`, in a picture
/// of 640x640. With key points of three values each it is a pose.
vision::Answer decoded(const Model& model, const std::vector<double>& raw,
                       std::uint32_t key_points = 0);

}  // namespace npu::test
