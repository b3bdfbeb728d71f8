// Graphs that scale their picture themselves, and what that does to frames.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/model_card.hpp>

namespace gstnpu {

/// Geometry of a picture of `width` x `height` that a graph scales to `own` itself: stretched, or
/// letterboxed where the Model API has put that into the graph.
npu::FrameGeometry own_scaling(const std::map<std::string, std::string>& model_info,
                               const npu::vision::ModelCard& card, std::uint32_t width,
                               std::uint32_t height, std::pair<std::uint32_t, std::uint32_t> own);

/// A warning where the graph gives a picture of `width` x `height` another shape than `wanted`;
/// `cure` is what to do. Else empty.
std::vector<std::string> stretch_warnings(const npu::FrameGeometry& geometry, std::uint32_t width,
                                          std::uint32_t height,
                                          std::optional<npu::ResizeMode> wanted,
                                          const std::string& cure);

}  // namespace gstnpu
