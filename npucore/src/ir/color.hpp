#pragma once

#include <array>

#include <npucore/frame.hpp>

namespace npu::ir {

/// rgb = matrix * (Y, Cb, Cr) + bias, rgb in 0..255, not yet limited to it. Y, Cb and Cr are codes
/// of `bits` bits, in steps of 8 bits: of 10 bits a fourth of the code. Rows are R, G, B.
struct YuvToRgb {
  std::array<std::array<double, 3>, 3> matrix{};
  std::array<double, 3> bias{};
};
YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range, int bits = 8);

/// grey = gain * Y + bias, in 0..255, not yet limited to it. Y as above.
struct LumaToGray {
  double gain = 1;
  double bias = 0;
};
LumaToGray luma_to_gray(ColorRange range, int bits = 8);

/// Shares of R, G and B in Y.
std::array<double, 3> luma_weights(ColorMatrix matrix);

}  // namespace npu::ir
