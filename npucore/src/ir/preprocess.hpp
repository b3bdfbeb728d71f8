#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/model_impl.hpp"

#include "image_input.hpp"

namespace npu::ir {

/// Replaces the model's image input by u8 inputs for the planes of `preprocess.frame`, and by the
/// operators that turn them into it. An NPU's compiler maps these operators in this order well, and
/// none of its rewriters matches them: see fuse_guard.hpp.
void add_preprocess(Model::Impl& model, const Preprocess& preprocess);

/// As Model::leave_out_own_steps().
std::vector<std::string> leave_out_own_steps(const Model::Impl& model, Preprocess* preprocess,
                                             std::map<std::string, std::string>* doubts);

/// As Model::own_picture_size().
std::optional<std::pair<std::uint32_t, std::uint32_t>> own_picture_size(const Model::Impl& model);

/// The geometry of the graph's own scaling of this input, if it has one. Throws Error(kUnsupported)
/// for NV12 or I420 in one plane.
std::optional<FrameGeometry> own_scaling(const Model::Impl& model, const ImageInput& image);

/// Notes in model_info, as kInnerSizeKey, the size to which the graph scales its picture where that
/// is its only step, so that it may be the network's own.
void note_inner_size(Model::Impl& model);

}  // namespace npu::ir
