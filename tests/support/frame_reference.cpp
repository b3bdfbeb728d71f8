#include "support/frame_reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace npu::test {
namespace {

bool has_chroma(PixelFormat format) {
  switch (format) {
    case PixelFormat::kNV12:
    case PixelFormat::kNV21:
    case PixelFormat::kI420:
    case PixelFormat::kYV12:
    case PixelFormat::kNV16:
    case PixelFormat::kYUY2:
    case PixelFormat::kUYVY:
    case PixelFormat::kP010:
      return true;
    default:
      return false;
  }
}

bool is_reversed(PixelFormat format) {
  return format == PixelFormat::kBGR || format == PixelFormat::kBGRx ||
         format == PixelFormat::kABGR;
}

bool begins_with_alpha(PixelFormat format) {
  return format == PixelFormat::kARGB || format == PixelFormat::kABGR;
}

bool is_gray(PixelFormat format) {
  return format == PixelFormat::kGray8 || format == PixelFormat::kGray16;
}

/// Bytes that a row of the plane has for `pixels` pixels.
int row_bytes(PixelFormat format, std::size_t plane, int pixels) {
  const int pairs = (pixels + 1) / 2;
  switch (format) {
    case PixelFormat::kNV12:
    case PixelFormat::kNV21:
    case PixelFormat::kNV16:
      return plane == 0 ? pixels : 2 * pairs;
    case PixelFormat::kI420:
    case PixelFormat::kYV12:
      return plane == 0 ? pixels : pairs;
    case PixelFormat::kP010:
      return plane == 0 ? 2 * pixels : 4 * pairs;
    case PixelFormat::kYUY2:
    case PixelFormat::kUYVY:
      return 4 * pairs;
    case PixelFormat::kRGB:
    case PixelFormat::kBGR:
      return 3 * pixels;
    case PixelFormat::kRGBx:
    case PixelFormat::kBGRx:
    case PixelFormat::kARGB:
    case PixelFormat::kABGR:
      return 4 * pixels;
    case PixelFormat::kGray8:
      return pixels;
    case PixelFormat::kGray16:
      return 2 * pixels;
  }
  throw std::logic_error("format");
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

}  // namespace

Frame noise_frame(const FrameLayout& layout, unsigned seed) {
  constexpr unsigned kUnusedBits = 0x3F;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(0, 255);
  Frame frame{layout, {}};
  const int left = static_cast<int>(layout.crop_left), top = static_cast<int>(layout.crop_top);
  const int right = left + static_cast<int>(layout.width);
  const int bottom = top + static_cast<int>(layout.height);
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    const auto [stride, rows] = layout.planes[p];
    const int sub = p > 0 && layout.format != PixelFormat::kNV16 ? 2 : 1;
    // A sample that the crop cuts through is a visible one.
    const int begin = row_bytes(layout.format, p, has_chroma(layout.format) ? left / 2 * 2 : left);
    const int end = row_bytes(layout.format, p, right);
    Bytes bytes(std::size_t{stride} * rows, 0xEE);
    for (int y = top / sub; y < up(bottom, sub); ++y) {
      for (int x = begin; x < end; ++x) {
        auto value = static_cast<unsigned>(byte(random));
        if (layout.format == PixelFormat::kP010 && x % 2 == 0) {
          value &= ~kUnusedBits;
        }
        bytes[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)] =
            static_cast<unsigned char>(value);
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
  if (preprocess.resize == ResizeMode::kFitToWindow) return;
  left_ = std::floor((model_width - content_width_) / 2);
  top_ = std::floor((model_height - content_height_) / 2);
}

Reference::Grid Reference::grid_of(PixelFormat format, Component component) {
  switch (format) {
    case PixelFormat::kNV12:
      return component == kY ? Grid{} : Grid{1, component == kCb ? 0U : 1U, 2, 2, 2};
    case PixelFormat::kNV21:
      return component == kY ? Grid{} : Grid{1, component == kCr ? 0U : 1U, 2, 2, 2};
    case PixelFormat::kI420:
      return component == kY ? Grid{} : Grid{component == kCb ? 1U : 2U, 0, 1, 2, 2};
    case PixelFormat::kYV12:
      return component == kY ? Grid{} : Grid{component == kCr ? 1U : 2U, 0, 1, 2, 2};
    case PixelFormat::kNV16:
      return component == kY ? Grid{} : Grid{1, component == kCb ? 0U : 1U, 2, 2, 1};
    case PixelFormat::kP010:
      return component == kY ? Grid{0, 0, 2, 1, 1, 10}
                             : Grid{1, component == kCb ? 0U : 2U, 4, 2, 2, 10};
    case PixelFormat::kYUY2:
      return component == kY ? Grid{0, 0, 2} : Grid{0, component == kCb ? 1U : 3U, 4, 2, 1};
    case PixelFormat::kUYVY:
      return component == kY ? Grid{0, 1, 2} : Grid{0, component == kCb ? 0U : 2U, 4, 2, 1};
    case PixelFormat::kGray8:
      return {};
    case PixelFormat::kGray16:
      return {0, 0, 2, 1, 1, 16};
    default:
      break;
  }
  const bool reversed = is_reversed(format);
  const auto step = static_cast<std::size_t>(row_bytes(format, 0, 1));
  const std::size_t first = begins_with_alpha(format) ? 1 : 0;
  if (component == kGreen) return {0, first + 1, step};
  return {0, first + ((component == kRed) == reversed ? 2 : 0), step};
}

double Reference::code(const Grid& grid, int column, int row) const {
  const std::size_t at =
      static_cast<std::size_t>(row) * frame_.layout.planes[grid.plane].stride_bytes + grid.first +
      static_cast<std::size_t>(column) * grid.step;
  const auto& plane = frame_.planes[grid.plane];
  if (grid.bits == 8) return plane.at(at);
  return (plane.at(at) + 256 * plane.at(at + 1)) >> (16 - grid.bits);
}

/// At a position in frame pixels, the frame's first one covering 0..1.
double Reference::sample(Component component, double x, double y) const {
  const auto& layout = frame_.layout;
  const Grid grid = grid_of(layout.format, component);
  const int left = static_cast<int>(layout.crop_left), top = static_cast<int>(layout.crop_top);
  const int first_x = left / grid.pixels_x, first_y = top / grid.pixels_y;
  const int last_x = up(left + static_cast<int>(layout.width), grid.pixels_x) - 1;
  const int last_y = up(top + static_cast<int>(layout.height), grid.pixels_y) - 1;
  const double grid_x = (left + x) / grid.pixels_x - .5, grid_y = (top + y) / grid.pixels_y - .5;
  const int x0 = static_cast<int>(std::floor(grid_x)), y0 = static_cast<int>(std::floor(grid_y));
  const double fx = grid_x - x0, fy = grid_y - y0;
  const auto at = [&](int column, int row) {
    return code(grid, std::clamp(column, first_x, last_x), std::clamp(row, first_y, last_y));
  };
  return (1 - fy) * ((1 - fx) * at(x0, y0) + fx * at(x0 + 1, y0)) +
         fy * ((1 - fx) * at(x0, y0 + 1) + fx * at(x0 + 1, y0 + 1));
}

/// E'Y in 0..1, by the quantisation of the recommendations.
double Reference::analog_luma(double x, double y) const {
  const int bits = grid_of(frame_.layout.format, kY).bits;
  const double code = sample(kY, x, y);
  if (frame_.layout.range == ColorRange::kFull) return code / (std::exp2(bits) - 1);
  return (code / std::exp2(bits - 8) - 16) / 219;
}

/// E'Cb or E'Cr in -0.5..0.5.
double Reference::analog_chroma(Component component, double x, double y) const {
  const int bits = grid_of(frame_.layout.format, component).bits;
  const double code = sample(component, x, y) - std::exp2(bits - 1);
  if (frame_.layout.range == ColorRange::kFull) return code / (std::exp2(bits) - 1);
  return code / std::exp2(bits - 8) / 224;
}

double Reference::luma_at(double x, double y) const {
  return limited(255 * analog_luma(x, y));
}

/// At a position in frame pixels.
std::array<double, 3> Reference::rgb_at(double x, double y) const {
  const auto format = frame_.layout.format;
  if (is_gray(format)) {
    const double gray = luma_at(x, y);
    return {gray, gray, gray};
  }
  if (!has_chroma(format)) return {sample(kRed, x, y), sample(kGreen, x, y), sample(kBlue, x, y)};
  const double luma = analog_luma(x, y);
  const auto [kr, kb] = primaries(frame_.layout.matrix);
  const double red = luma + 2 * (1 - kr) * analog_chroma(kCr, x, y);
  const double blue = luma + 2 * (1 - kb) * analog_chroma(kCb, x, y);
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
  if (channels_ == 1 && (has_chroma(format) || is_gray(format))) {
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
