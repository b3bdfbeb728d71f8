#include "placement.hpp"

#include <algorithm>
#include <cmath>

namespace npu::ir {
namespace {

std::uint32_t scaled(std::uint32_t size, double factor, std::uint32_t limit) {
  return std::clamp(static_cast<std::uint32_t>(std::lround(size * factor)), 1U, limit);
}

struct Span {
  std::uint32_t begin, size;
};

/// The middle `size` of `whole`, in whole samples of the planes and not empty. The frame begins at
/// `first` in the planes.
Span middle(double size, std::uint32_t whole, std::uint32_t first, std::uint32_t sample) {
  const std::uint32_t step = whole >= 2 * sample ? sample : 1;
  const auto samples = [step](double pixels) {
    return static_cast<std::uint32_t>(std::lround(pixels / step)) * step;
  };
  const std::uint32_t seen = std::clamp(samples(size), step, whole);
  const double begin = first + (double{1} * whole - seen) / 2;
  const std::uint32_t last = first + whole - seen;
  return {std::clamp(samples(begin), first, last), seen};
}

}  // namespace

FrameLayout seen_part(const Preprocess& preprocess, std::uint32_t model_width,
                      std::uint32_t model_height) {
  FrameLayout seen = preprocess.frame;
  if (preprocess.resize != ResizeMode::kCrop) return seen;
  const double aspect = double{1} * model_width / model_height;
  const double width = std::min<double>(seen.width, seen.height * aspect) * preprocess.crop_share;
  std::uint32_t step_x = 1, step_y = 1;
  for (const PlaneShape& shape : plane_shapes(seen.format)) {
    step_x = std::max(step_x, shape.pixels_x);
    step_y = std::max(step_y, shape.pixels_y);
  }
  const Span x = middle(width, seen.width, seen.crop_left, step_x);
  const Span y = middle(width / aspect, seen.height, seen.crop_top, step_y);
  seen.crop_left = x.begin;
  seen.width = x.size;
  seen.crop_top = y.begin;
  seen.height = y.size;
  return seen;
}

Placement place_frame(const FrameLayout& frame, std::uint32_t model_width,
                      std::uint32_t model_height, ResizeMode resize) {
  Placement place;
  place.width = model_width;
  place.height = model_height;
  if (resize == ResizeMode::kLetterbox || resize == ResizeMode::kFitToWindow) {
    const double factor =
        std::min(double{1} * model_width / frame.width, double{1} * model_height / frame.height);
    place.width = scaled(frame.width, factor, model_width);
    place.height = scaled(frame.height, factor, model_height);
    if (resize == ResizeMode::kLetterbox) {
      place.left = (model_width - place.width) / 2;
      place.top = (model_height - place.height) / 2;
    }
    place.right = model_width - place.width - place.left;
    place.bottom = model_height - place.height - place.top;
  }
  place.geometry.model_width = model_width;
  place.geometry.model_height = model_height;
  place.geometry.offset_x = place.left;
  place.geometry.offset_y = place.top;
  place.geometry.scale_x = double{1} * frame.width / place.width;
  place.geometry.scale_y = double{1} * frame.height / place.height;
  return place;
}

}  // namespace npu::ir

namespace npu {

FrameGeometry geometry_of(const Preprocess& preprocess, std::uint32_t model_width,
                          std::uint32_t model_height) {
  const FrameLayout seen = ir::seen_part(preprocess, model_width, model_height);
  auto geometry = ir::place_frame(seen, model_width, model_height, preprocess.resize).geometry;
  geometry.offset_x -= (seen.crop_left - preprocess.frame.crop_left) / geometry.scale_x;
  geometry.offset_y -= (seen.crop_top - preprocess.frame.crop_top) / geometry.scale_y;
  return geometry;
}

}  // namespace npu
