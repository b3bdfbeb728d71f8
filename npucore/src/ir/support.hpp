#pragma once

#include "model_state.hpp"

namespace npu::ir {

/// Throws Error(kUnsupported) for the first thing that no NPU can take.
void check_supported(const internal::ModelState& model);

}  // namespace npu::ir
