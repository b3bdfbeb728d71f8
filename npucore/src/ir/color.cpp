#include "color.hpp"

#include <algorithm>

#include "base/pixel_formats.hpp"

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

/// Shares of R, G and B in Y.
ColorMap::Row luma_weights(ColorMatrix matrix) {
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

ColorMap yuv_to_rgb(const FrameLayout& frame) {
  const auto [kr, kg, kb] = luma_weights(frame.matrix);
  const auto [luma_zero, luma_gain, chroma_gain] =
      levels(frame.range, base::row_of(frame.format).bits);
  const double red = 2 * (1 - kr) * chroma_gain;
  const double blue = 2 * (1 - kb) * chroma_gain;
  ColorMap map;
  map.rows = {
      {luma_gain, 0, red}, {luma_gain, -blue * kb / kg, -red * kr / kg}, {luma_gain, blue, 0}};
  for (const auto& [luma, cb, cr] : map.rows) {
    map.bias.push_back(-luma * luma_zero - (cb + cr) * kChromaZero);
  }
  map.limited = true;
  return map;
}

/// Also used for a grey frame and a colour model, whose channels are then equal.
ColorMap luma_to_gray(const FrameLayout& frame, std::uint32_t channels) {
  const auto [zero, gain, chroma_gain] = levels(frame.range, base::row_of(frame.format).bits);
  return {std::vector<ColorMap::Row>(channels, {gain, 0, 0}),
          std::vector<double>(channels, -gain * zero), gain != 1 || zero != 0};
}

ColorMap rgb_to(const FrameLayout& frame, std::uint32_t channels) {
  if (channels == 1) return {{luma_weights(frame.matrix)}, {0}};
  return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
}

ColorMap map_of(const FrameLayout& frame, std::uint32_t channels) {
  const auto& format = base::row_of(frame.format);
  if (format.has('r')) return rgb_to(frame, channels);
  return channels > 1 && format.has('u') ? yuv_to_rgb(frame) : luma_to_gray(frame, channels);
}

}  // namespace

bool ColorMap::uses(std::size_t component) const {
  return std::any_of(rows.begin(), rows.end(),
                     [component](const Row& row) { return row[component] != 0; });
}

ColorMap color_map(const Preprocess& preprocess, std::uint32_t channels) {
  auto map = map_of(preprocess.frame, channels);
  if (preprocess.channels == ChannelOrder::kBGR) {
    std::reverse(map.rows.begin(), map.rows.end());
    std::reverse(map.bias.begin(), map.bias.end());
  }
  return map;
}

}  // namespace npu::ir
