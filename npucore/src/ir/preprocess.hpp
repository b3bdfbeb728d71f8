#pragma once

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Replaces the model's image input by u8 inputs for the planes of `preprocess.frame`, and by the
/// operators that turn them into it. An NPU's compiler maps these operators in this order well, and
/// none of its rewriters matches them: see fuse_guard.hpp.
void add_preprocess(Model::Impl& model, const Preprocess& preprocess);

}  // namespace npu::ir
