#pragma once

#include <map>
#include <string>

#include <npucore/types.hpp>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Gives inputs, by name or tensor name, static shapes. Compilers and OpenVINO infer all other
/// shapes from these when they read a model, whatever the file says about its ports; the ports
/// given here keep the dimensions that stay true and lose the others (-1).
void reshape(Model::Impl& model, const std::map<std::string, Shape>& shapes);

}  // namespace npu::ir
