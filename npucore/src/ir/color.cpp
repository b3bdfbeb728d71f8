#include "color.hpp"

namespace npu::ir {
namespace {

constexpr double kChromaZero = 128;

struct Levels {
  double luma_zero, luma_gain, chroma_gain;
};

// Quantisation, ITU-R BT.601-7 table 3, BT.709-6 table 5, BT.2020-2 table 5. The codes of limited
// range grow by 2^(bits - 8), those of full range by (2^bits - 1) / 255: BT.2100-2 table 9.
Levels levels(ColorRange range, int bits) {
  if (range == ColorRange::kLimited) return {16, 255.0 / 219, 255.0 / 224};
  constexpr int kByte = 8;
  const double step = 1U << static_cast<unsigned>(bits - kByte);
  const double gain = 255 * step / (256 * step - 1);
  return {0, gain, gain};
}

}  // namespace

std::array<double, 3> luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBT709:
      return {.2126, 1 - .2126 - .0722, .0722};
    case ColorMatrix::kBT2020:
      return {.2627, 1 - .2627 - .0593, .0593};
    case ColorMatrix::kBT601:
      break;
  }
  return {.299, 1 - .299 - .114, .114};
}

YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range, int bits) {
  const auto [kr, kg, kb] = luma_weights(matrix);
  const auto [luma_zero, luma_gain, chroma_gain] = levels(range, bits);
  const double red = 2 * (1 - kr) * chroma_gain;
  const double blue = 2 * (1 - kb) * chroma_gain;
  YuvToRgb result;
  result.matrix = {
      {{luma_gain, 0, red}, {luma_gain, -blue * kb / kg, -red * kr / kg}, {luma_gain, blue, 0}}};
  for (std::size_t row = 0; row < result.bias.size(); ++row) {
    const auto& [luma, cb, cr] = result.matrix[row];
    result.bias[row] = -luma * luma_zero - (cb + cr) * kChromaZero;
  }
  return result;
}

LumaToGray luma_to_gray(ColorRange range, int bits) {
  const auto [luma_zero, luma_gain, chroma_gain] = levels(range, bits);
  return {luma_gain, -luma_gain * luma_zero};
}

}  // namespace npu::ir
