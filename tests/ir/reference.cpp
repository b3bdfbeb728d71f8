#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace npu::test {
namespace {

int bytes_per_sample(PixelFormat format, std::size_t plane) {
  if (format == PixelFormat::kRGB || format == PixelFormat::kBGR) return 3;
  if (format == PixelFormat::kRGBx || format == PixelFormat::kBGRx) return 4;
  return format == PixelFormat::kNV12 && plane == 1 ? 2 : 1;
}

bool is_420(PixelFormat format) {
  return format == PixelFormat::kNV12 || format == PixelFormat::kI420;
}

int subsampling(PixelFormat format, std::size_t plane) {
  return is_420(format) && plane > 0 ? 2 : 1;
}

int up(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}

double limited(double value) {
  return std::clamp(value, 0.0, 255.0);
}

/// Kr and Kb of the recommendations.
std::pair<double, double> primaries(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBT601:
      return {0.299, 0.114};
    case ColorMatrix::kBT709:
      return {0.2126, 0.0722};
    case ColorMatrix::kBT2020:
      return {0.2627, 0.0593};
  }
  throw std::logic_error("matrix");
}

/// E'Y, E'Cb and E'Cr of 8 bit codes, in 0..1 and -0.5..0.5.
double analog_luma(double code, ColorRange range) {
  return range == ColorRange::kFull ? code / 255 : (code - 16) / 219;
}
double analog_chroma(double code, ColorRange range) {
  return (code - 128) / (range == ColorRange::kFull ? 255 : 224);
}

}  // namespace

Frame noise_frame(const FrameLayout& layout, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(0, 255);
  Frame frame{layout, {}};
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    const auto [stride, rows] = layout.planes[p];
    const int sub = subsampling(layout.format, p), size = bytes_per_sample(layout.format, p);
    const int left = static_cast<int>(layout.crop_left) / sub * size;
    const int top = static_cast<int>(layout.crop_top) / sub;
    const int width = up(static_cast<int>(layout.width), sub) * size;
    const int height = up(static_cast<int>(layout.height), sub);
    Bytes bytes(std::size_t{stride} * rows, 0xEE);
    for (int y = top; y < top + height; ++y) {
      for (int x = left; x < left + width; ++x) {
        bytes[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)] =
            static_cast<unsigned char>(byte(random));
      }
    }
    frame.planes.push_back(std::move(bytes));
  }
  return frame;
}

Reference::Reference(const Frame& frame, const Preprocess& preprocess, int model_width,
                     int model_height, int channels)
    : frame_(frame),
      preprocess_(preprocess),
      channels_(channels),
      content_width_(model_width),
      content_height_(model_height),
      left_(0),
      top_(0) {
  if (preprocess.resize == ResizeMode::kStretch) return;
  const double width = frame.layout.width, height = frame.layout.height;
  const double factor = std::min(model_width / width, model_height / height);
  content_width_ = std::max(1.0, std::round(width * factor));
  content_height_ = std::max(1.0, std::round(height * factor));
  left_ = std::floor((model_width - content_width_) / 2);
  top_ = std::floor((model_height - content_height_) / 2);
}

/// `x` and `y` in samples of the plane, its first sample's centre at 0.
double Reference::sample(std::size_t plane, int component, double x, double y) const {
  const auto& layout = frame_.layout;
  const int sub = subsampling(layout.format, plane), size = bytes_per_sample(layout.format, plane);
  const int last_x = up(static_cast<int>(layout.width), sub) - 1;
  const int last_y = up(static_cast<int>(layout.height), sub) - 1;
  const auto code = [&](int column, int row) -> double {
    const int at_x = std::clamp(column, 0, last_x) + static_cast<int>(layout.crop_left) / sub;
    const int at_y = std::clamp(row, 0, last_y) + static_cast<int>(layout.crop_top) / sub;
    return frame_.planes[plane][static_cast<std::size_t>(at_y) * layout.planes[plane].stride_bytes +
                                static_cast<std::size_t>(at_x * size + component)];
  };
  const int x0 = static_cast<int>(std::floor(x)), y0 = static_cast<int>(std::floor(y));
  const double fx = x - x0, fy = y - y0;
  return (1 - fy) * ((1 - fx) * code(x0, y0) + fx * code(x0 + 1, y0)) +
         fy * ((1 - fx) * code(x0, y0 + 1) + fx * code(x0 + 1, y0 + 1));
}

double Reference::luma_at(double x, double y) const {
  return limited(255 * analog_luma(sample(0, 0, x - .5, y - .5), frame_.layout.range));
}

/// At a position in frame pixels.
std::array<double, 3> Reference::rgb_at(double x, double y) const {
  const auto format = frame_.layout.format;
  if (format == PixelFormat::kGray8) {
    const double gray = luma_at(x, y);
    return {gray, gray, gray};
  }
  if (!is_420(format)) {
    const bool reversed = format == PixelFormat::kBGR || format == PixelFormat::kBGRx;
    std::array<double, 3> rgb{};
    for (int c = 0; c < 3; ++c) {
      rgb[static_cast<std::size_t>(reversed ? 2 - c : c)] = sample(0, c, x - .5, y - .5);
    }
    return rgb;
  }
  const auto range = frame_.layout.range;
  const bool semi_planar = format == PixelFormat::kNV12;
  const double luma = analog_luma(sample(0, 0, x - .5, y - .5), range);
  const double cb = analog_chroma(sample(1, 0, x / 2 - .5, y / 2 - .5), range);
  const double cr = analog_chroma(
      sample(semi_planar ? 1 : 2, semi_planar ? 1 : 0, x / 2 - .5, y / 2 - .5), range);
  const auto [kr, kb] = primaries(frame_.layout.matrix);
  const double red = luma + 2 * (1 - kr) * cr;
  const double blue = luma + 2 * (1 - kb) * cb;
  const double green = (luma - kr * red - kb * blue) / (1 - kr - kb);
  return {limited(255 * red), limited(255 * green), limited(255 * blue)};
}

double Reference::gray_level_at(int channel, int x, int y) const {
  const double content_x = x - left_, content_y = y - top_;
  if (content_x < 0 || content_y < 0 || content_x >= content_width_ ||
      content_y >= content_height_) {
    return preprocess_.pad_value;
  }
  const double frame_x = (content_x + .5) * frame_.layout.width / content_width_;
  const double frame_y = (content_y + .5) * frame_.layout.height / content_height_;
  const auto format = frame_.layout.format;
  if (channels_ == 1 && (is_420(format) || format == PixelFormat::kGray8)) {
    return luma_at(frame_x, frame_y);
  }
  const auto rgb = rgb_at(frame_x, frame_y);
  if (channels_ == 1) {
    const auto [kr, kb] = primaries(frame_.layout.matrix);
    return kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
  }
  const bool reversed = preprocess_.channels == ChannelOrder::kBGR;
  return rgb[static_cast<std::size_t>(reversed ? 2 - channel : channel)];
}

double Reference::scale_of(int channel) const {
  const auto& scale = preprocess_.scale;
  if (scale.empty()) return 1;
  return scale[scale.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
}

double Reference::at(int channel, int x, int y) const {
  const auto& mean = preprocess_.mean;
  const double subtracted =
      mean.empty() ? 0 : mean[mean.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  return (gray_level_at(channel, x, y) - subtracted) / scale_of(channel);
}

}  // namespace npu::test
