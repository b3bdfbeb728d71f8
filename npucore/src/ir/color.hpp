#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <npucore/frame.hpp>

namespace npu::ir {

/// A map from a frame's components to a model's channels: channel = row times (Y, Cb, Cr) or (R, G,
/// B), plus bias, in grey levels.
struct ColorMap {
  using Row = std::array<double, 3>;
  std::vector<Row> rows;  ///< one per channel, in the model's order
  std::vector<double> bias;
  bool limited = false;  ///< results may leave 0..255: limit them

  bool uses(std::size_t component) const;
};
/// `channels` of the model: 1 or 3. Codes of more than 8 bits count in steps of 8 bits: a 10-bit
/// code counts a fourth.
ColorMap color_map(const Preprocess& preprocess, std::uint32_t channels);

}  // namespace npu::ir
