#pragma once

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Replaces the model's image input by u8 inputs for the planes of `preprocess.frame`, and by the
/// operators that turn them into it. An NPU's compiler maps these operators in this order well, and
/// none of its rewriters matches them: see fuse_guard.hpp.
void add_preprocess(Model::Impl& model, const Preprocess& preprocess);

/// As Model::leave_out_own_steps().
std::vector<std::string> leave_out_own_steps(const Model::Impl& model, Preprocess* preprocess);

/// As Model::own_picture_size().
std::optional<std::pair<std::uint32_t, std::uint32_t>> own_picture_size(const Model::Impl& model);

}  // namespace npu::ir
