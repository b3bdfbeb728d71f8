#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
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
  /// The layer that turns RGB to BGR or back, in words; empty: none does.
  std::string turn;
  /// Layers behind the last one that was understood which may belong to these steps.
  struct Later {
    std::string layer;            ///< in words
    std::vector<double> factors;  ///< it multiplies or divides by them
    std::vector<double> terms;    ///< it adds or subtracts them
    bool turns = false;           ///< it may turn the channels
  };
  std::vector<Later> later;
  std::string stop;  ///< the layer that was not understood, in words; empty: the network begins
};

/// Reads the layers behind this Parameter up to the first one of another kind, or one with several
/// followers; then looks for others nearby. `mean` and `scale` are in the order of the channels
/// behind a turn.
OwnSteps own_steps(const Document& document, const Weights& weights, pugi::xml_node parameter);

enum class SameStep { kNone, kSame, kReversed };
/// Whether both are the same numbers, one for all channels or one for each, perhaps in reverse
/// order only.
SameStep compare_steps(const std::vector<double>& own, const std::vector<float>& wanted);

}  // namespace npu::ir
