// NPU_BATCH_MODE as in Intel's compiler (checked with version 8.4, on every platform).
#pragma once

#include <openvino/core/model.hpp>
#include <string_view>

namespace softnpu {

/// With PLUGIN or AUTO the batch of a model with one input, fixed or bounded, is compiled as 1: the
/// client runs the items one by one. For any other model AUTO changes nothing, and PLUGIN throws
/// INVALID_ARGUMENT. Other modes leave the batch to the compiler.
void apply_batch_mode(ov::Model& model, std::string_view mode);

}  // namespace softnpu
