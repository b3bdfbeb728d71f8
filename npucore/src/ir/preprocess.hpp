#pragma once

#include "model_impl.hpp"

namespace npu::ir {

/// Replaces the model's image input by u8 inputs for the planes of `preprocess.frame` and the
/// operators that turn them into it. The operators and their order are those that an NPU's compiler
/// maps well, and that match none of its rewriters: see fuse_guard.hpp.
void add_preprocess(Model::Impl& model, const Preprocess& preprocess);

}  // namespace npu::ir
