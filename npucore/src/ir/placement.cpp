#include "placement.hpp"

#include <algorithm>
#include <cmath>

namespace npu::ir {
namespace {

std::uint32_t scaled(std::uint32_t size, double factor, std::uint32_t limit) {
  return std::clamp(static_cast<std::uint32_t>(std::lround(size * factor)), 1U, limit);
}

}  // namespace

Placement place_frame(const FrameLayout& frame, std::uint32_t model_width,
                      std::uint32_t model_height, ResizeMode resize) {
  Placement place;
  place.width = model_width;
  place.height = model_height;
  if (resize == ResizeMode::kLetterbox) {
    const double factor =
        std::min(double{1} * model_width / frame.width, double{1} * model_height / frame.height);
    place.width = scaled(frame.width, factor, model_width);
    place.height = scaled(frame.height, factor, model_height);
    place.left = (model_width - place.width) / 2;
    place.top = (model_height - place.height) / 2;
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
