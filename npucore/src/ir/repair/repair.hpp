#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/model_impl.hpp"

namespace npu::ir {

/// Model::repair().
std::vector<std::string> repair(Model::Impl& model);

// The single repairs. Each tells in one sentence what it did; nothing where there was nothing.

/// Floor, Ceiling and Round of whole numbers change none, and compilers refuse some of them.
std::optional<std::string> drop_integer_rounding(Model::Impl& model);
/// The input orig_target_sizes (RT-DETR, D-FINE) becomes the model's own width and height.
std::optional<std::string> freeze_target_sizes(Model::Impl& model);
/// The input scale_factor (PaddleDetection) becomes 1.
std::optional<std::string> freeze_scale_factor(Model::Impl& model);
/// After a reshape: the constant that orig_target_sizes became says the picture's new size.
void follow_picture(Model::Impl& model);
/// What chooses the detections at the end of a graph, TopK or NonMaxSuppression with the Gathers
/// behind them, goes: the output becomes [1, boxes, 4 + classes + more], or the same transposed,
/// with more boxes than values. model_info says what is left to the host.
std::optional<std::string> cut_detections(Model::Impl& model);

}  // namespace npu::ir
