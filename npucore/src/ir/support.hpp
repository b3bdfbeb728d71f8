#pragma once

#include <string>
#include <vector>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Throws Error(kUnsupported) for the first thing that no NPU can take.
void check_supported(const Model::Impl& model);

struct LayerName {
  std::string name, type;
};
/// All layers, in the order of the file.
std::vector<LayerName> layer_names(const Model& model);

}  // namespace npu::ir
