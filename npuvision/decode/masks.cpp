#include "masks.hpp"

#include <algorithm>
#include <cmath>

namespace npu::vision {
namespace {

struct Range {
  std::uint32_t begin = 0, end = 0;
};

// Pixels whose upper left corners are inside, as YOLO's authors crop, but at least one.
Range pixels_between(double low, double high, std::uint32_t limit) {
  const auto begin = static_cast<std::uint32_t>(std::ceil(low));
  const auto end = static_cast<std::uint32_t>(std::ceil(high));
  if (begin < end) return {begin, end};
  const auto only = std::min(static_cast<std::uint32_t>(std::floor(low)), limit - 1);
  return {only, only + 1};
}

Mask rectangle_of(const Object& object, FrameSize frame) {
  const Range x = pixels_between(object.left, object.right, frame.width);
  const Range y = pixels_between(object.top, object.bottom, frame.height);
  return {.x = x.begin, .y = y.begin, .width = x.end - x.begin, .height = y.end - y.begin};
}

// Number of pixels if each becomes `coarseness` times larger, or somewhat more.
std::uint32_t coarser(std::uint32_t pixels, double coarseness) {
  return std::max(static_cast<std::uint32_t>(pixels / coarseness), 1U);
}

float finite_or_none(float logit) {
  return std::isfinite(logit) ? logit : 0;
}

float between(float low, float high, float weight) {
  return low + (high - low) * weight;
}

}  // namespace

void MaskPainter::begin(const LogitPlane& plane, const npu::FrameGeometry& geometry,
                        FrameSize frame, std::span<const Object> objects) {
  plane_ = plane;
  geometry_ = geometry;
  frame_ = frame;
  double pixels = 0;
  for (const Object& object : objects) {
    const Mask mask = rectangle_of(object, frame);
    pixels += static_cast<double>(mask.width) * mask.height;
  }
  coarseness_ = std::max(std::sqrt(pixels / static_cast<double>(kMostMaskPixels)), 1.0);
}

Mask MaskPainter::mask_of(const Object& object) const {
  Mask mask = rectangle_of(object, frame_);
  mask.columns = coarser(mask.width, coarseness_);
  mask.rows = coarser(mask.height, coarseness_);
  return mask;
}

MaskPainter::Place MaskPainter::place(double pixel, double offset, double scale,
                                      double per_model_pixel, std::size_t size) {
  const double center = (pixel / scale + offset) * per_model_pixel - 0.5;
  if (!(center > 0)) return {};
  const auto last = static_cast<double>(size - 1);
  if (center >= last) return {size - 1, size - 1, 0};
  const auto low = static_cast<std::size_t>(center);
  return {low, low + 1, static_cast<float>(center - static_cast<double>(low))};
}

MaskPainter::Place MaskPainter::column(const Mask& mask, std::uint32_t column) const {
  const double pixel = mask.x + (column + 0.5) * mask.width / mask.columns;
  return place(pixel, geometry_.offset_x, geometry_.scale_x,
               static_cast<double>(plane_.width) / geometry_.model_width, plane_.width);
}

MaskPainter::Place MaskPainter::row(const Mask& mask, std::uint32_t row) const {
  const double pixel = mask.y + (row + 0.5) * mask.height / mask.rows;
  return place(pixel, geometry_.offset_y, geometry_.scale_y,
               static_cast<double>(plane_.height) / geometry_.model_height, plane_.height);
}

PlanePart MaskPainter::part_for(const Object& object) const {
  const Mask mask = mask_of(object);
  const std::size_t left = column(mask, 0).low, right = column(mask, mask.columns - 1).high;
  const std::size_t top = row(mask, 0).low, bottom = row(mask, mask.rows - 1).high;
  return {.left = left, .top = top, .width = right - left + 1, .height = bottom - top + 1};
}

void MaskPainter::paint(const Object& object, const PlanePart& part, std::span<const float> logits,
                        Answer* answer) {
  Mask mask = mask_of(object);
  mask.first = answer->mask_pixels.size();
  answer->masks.push_back(mask);
  answer->mask_pixels.resize(mask.first + std::size_t{mask.columns} * mask.rows);
  columns_.clear();
  for (std::uint32_t x = 0; x < mask.columns; ++x) columns_.push_back(column(mask, x));
  blended_.resize(part.width);
  std::uint8_t* pixel = answer->mask_pixels.data() + mask.first;
  for (std::uint32_t y = 0; y < mask.rows; ++y) {
    const Place line = row(mask, y);
    const float* low = logits.data() + (line.low - part.top) * part.width;
    const float* high = logits.data() + (line.high - part.top) * part.width;
    for (std::size_t x = 0; x < part.width; ++x) {
      blended_[x] = between(finite_or_none(low[x]), finite_or_none(high[x]), line.weight);
    }
    for (const Place& at : columns_) {
      const float logit =
          between(blended_[at.low - part.left], blended_[at.high - part.left], at.weight);
      *pixel++ = logit > 0 ? 255 : 0;
    }
  }
}

}  // namespace npu::vision
