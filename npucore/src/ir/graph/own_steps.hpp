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
  bool is_converted = false;    ///< another layer type, layout, or normalisation stands beside that
  bool is_from_planes = false;  ///< it converts NV12 or I420
};

/// Reads the layers behind this Parameter up to the first one of another kind, or one with several
/// followers.
OwnSteps own_steps(const Document& document, const Weights& weights, pugi::xml_node parameter);

enum class SameStep { kNone, kSame, kReversed };
/// Whether both are the same numbers, one for all channels or one for each, perhaps in reverse
/// order only.
SameStep compare_steps(const std::vector<double>& own, const std::vector<float>& wanted);

}  // namespace npu::ir
