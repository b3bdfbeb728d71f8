#pragma once

#include "model_impl.hpp"

namespace npu::ir {

/// Throws Error(kUnsupported) for the first thing that no NPU can take.
void check_supported(const Model::Impl& model);

}  // namespace npu::ir
