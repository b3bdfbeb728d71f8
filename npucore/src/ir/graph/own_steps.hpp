#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// Steps of pre-processing that a graph does with its picture itself, as OpenVINO's
/// PrePostProcessor and the Model API's save() put them in.
struct OwnSteps {
  struct Size {
    std::uint32_t width = 0, height = 0;
  };
  std::vector<double> mean, scale;  ///< (x - mean) / scale, as in Preprocess; empty: not done
  std::optional<Size> size;         ///< to which it scales the picture, in whatever way
};

/// Reads the layers behind this Parameter up to the first one of another kind, or one with several
/// followers.
OwnSteps own_steps(const Document& document, const Weights& weights, pugi::xml_node parameter);

/// Whether both are the same numbers, one for all channels or one for each in any order.
bool is_same_step(const std::vector<double>& own, const std::vector<float>& wanted);

}  // namespace npu::ir
