#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "npucore/model.hpp"

namespace npu::test {

using Bytes = std::vector<unsigned char>;

/// Runs the model as it would go to a driver's compiler with OpenVINO's CPU plugin at f32
/// precision, and gives its first output as numbers. Inputs are keyed by tensor name.
std::vector<double> run_with_openvino(const Model& model,
                                      const std::map<std::string, Bytes>& inputs);

/// Layers whose written shape is not what OpenVINO infers for them, one line each.
std::vector<std::string> wrong_shapes(const Model& model);

}  // namespace npu::test
