#pragma once

#include <array>

#include "npucore/frame.hpp"

namespace npu::ir {

/// rgb = matrix * (Y, Cb, Cr) + bias, all in 0..255, not yet limited to it. Rows are R, G, B.
struct YuvToRgb {
  std::array<std::array<double, 3>, 3> matrix{};
  std::array<double, 3> bias{};
};
YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range);

/// grey = gain * Y + bias, in 0..255, not yet limited to it.
struct LumaToGray {
  double gain = 1;
  double bias = 0;
};
LumaToGray luma_to_gray(ColorRange range);

/// Shares of R, G and B in Y.
std::array<double, 3> luma_weights(ColorMatrix matrix);

}  // namespace npu::ir
