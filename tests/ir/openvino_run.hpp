#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "ir/serialize.hpp"

namespace npu::test {

using Bytes = std::vector<unsigned char>;

/// Runs the model as it would go to a driver's compiler with OpenVINO's CPU plugin at f32
/// precision, and gives its first output as numbers. Inputs are keyed by tensor name.
std::vector<double> run_with_openvino(const Model& model,
                                      const std::map<std::string, Bytes>& inputs,
                                      ir::CompilerVersion version = {7, 0});
/// The same in the weightless form, read as a driver's compiler would.
std::vector<double> run_weightless_with_openvino(const Model& model,
                                                 const std::map<std::string, Bytes>& inputs,
                                                 ir::CompilerVersion version,
                                                 std::size_t threshold_bytes = 0);

/// The same of a model that is read once, by the CPU plugin or by OpenVINO's interpreter, which
/// takes a fifth of the time. Throws when a written shape is not what OpenVINO infers.
enum class By { kPlugin, kInterpreter };
std::vector<double> check_and_run(const Model& model, const std::map<std::string, Bytes>& inputs,
                                  By by);

/// Layers whose written shape is not what OpenVINO infers for them, one line each.
std::vector<std::string> wrong_shapes(const Model& model);

}  // namespace npu::test
