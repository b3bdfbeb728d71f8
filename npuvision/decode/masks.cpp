#include "masks.hpp"

#include <algorithm>
#include <cmath>

#include "boxes.hpp"

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

PlaneStep step_at(double center, std::size_t size) {
  if (!(center > 0)) return {};
  const auto last = static_cast<double>(size - 1);
  if (center >= last) return {size - 1, size - 1, 0};
  const auto low = static_cast<std::size_t>(center);
  return {low, low + 1, static_cast<float>(center - static_cast<double>(low))};
}

}  // namespace

float between(float low, float high, float weight) {
  return low + (high - low) * weight;
}

PlaneStep step_of(std::size_t place, std::size_t scaled, std::size_t size) {
  return step_at(
      (static_cast<double>(place) + 0.5) * static_cast<double>(size) / static_cast<double>(scaled) -
          0.5,
      size);
}

std::optional<Object> region_of(const LogitPlane& plane, std::span<const float> logits,
                                const npu::FrameGeometry& geometry, FrameSize frame) {
  std::size_t left = plane.width, top = plane.height, right = 0, bottom = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > 0)) continue;
    left = std::min(left, i % plane.width);
    right = std::max(right, i % plane.width);
    top = std::min(top, i / plane.width);
    bottom = i / plane.width;
  }
  if (left > right) return {};
  const auto x = [&](double column) {
    return frame_x(column * geometry.model_width / static_cast<double>(plane.width), geometry,
                   frame);
  };
  const auto y = [&](double row) {
    return frame_y(row * geometry.model_height / static_cast<double>(plane.height), geometry,
                   frame);
  };
  return Object{.left = x(static_cast<double>(left) - 1),
                .top = y(static_cast<double>(top) - 1),
                .right = x(static_cast<double>(right) + 2),
                .bottom = y(static_cast<double>(bottom) + 2),
                .oriented = {}};
}

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

PlaneStep MaskPainter::place(double pixel, double offset, double scale, double per_model_pixel,
                             std::size_t size) {
  return step_at((pixel / scale + offset) * per_model_pixel - 0.5, size);
}

PlaneStep MaskPainter::column(const Mask& mask, std::uint32_t column) const {
  const double pixel = mask.x + (column + 0.5) * mask.width / mask.columns;
  return place(pixel, geometry_.offset_x, geometry_.scale_x,
               static_cast<double>(plane_.width) / geometry_.model_width, plane_.width);
}

PlaneStep MaskPainter::row(const Mask& mask, std::uint32_t row) const {
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

void MaskPainter::paint_of_whole(const Object& object, std::span<const float> logits,
                                 Answer* answer) {
  const PlanePart part = part_for(object);
  part_.clear();
  for (std::size_t y = part.top; y < part.top + part.height; ++y) {
    const auto row = logits.subspan(y * plane_.width + part.left, part.width);
    part_.insert(part_.end(), row.begin(), row.end());
  }
  paint(object, part, part_, answer);
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
    const PlaneStep line = row(mask, y);
    const float* low = logits.data() + (line.low - part.top) * part.width;
    const float* high = logits.data() + (line.high - part.top) * part.width;
    for (std::size_t x = 0; x < part.width; ++x) {
      blended_[x] = between(finite_or_none(low[x]), finite_or_none(high[x]), line.weight);
    }
    for (const PlaneStep& at : columns_) {
      const float logit =
          between(blended_[at.low - part.left], blended_[at.high - part.left], at.weight);
      *pixel++ = logit > 0 ? 255 : 0;
    }
  }
}

}  // namespace npu::vision
