#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph/model_impl.hpp"

namespace npu::ir {

/// Model::repair().
std::vector<std::string> repair(Model::Impl& model);

// The single repairs. Each returns one sentence about what it did, or nothing.

/// Drops Floor, Ceiling and Round of whole numbers: they change nothing, and compilers refuse some.
std::optional<std::string> drop_integer_rounding(Model::Impl& model);
/// Turns the input orig_target_sizes (RT-DETR, D-FINE) into the model's own width and height.
std::optional<std::string> freeze_target_sizes(Model::Impl& model);
/// Turns the input scale_factor (PaddleDetection) into 1.
std::optional<std::string> freeze_scale_factor(Model::Impl& model);
/// After a reshape: writes the picture's new size into the constant for orig_target_sizes.
void follow_picture(Model::Impl& model);
/// Removes the end of a graph that chooses the detections, TopK or NonMaxSuppression with the
/// Gathers behind them: the output becomes [1, boxes, 4 + classes + more], or the same transposed,
/// with more boxes than values. model_info describes the work left to the host.
std::optional<std::string> cut_detections(Model::Impl& model);

}  // namespace npu::ir
