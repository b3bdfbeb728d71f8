#include "oriented.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace npu::vision {
namespace {

// Normalises an angle to -pi/2 up to, not including, pi/2.
double half_turn(double angle) {
  const double rest = std::remainder(angle, std::numbers::pi);
  return rest >= std::numbers::pi / 2 ? rest - std::numbers::pi : rest;
}

}  // namespace

OrientedBox into_frame(const OrientedBox& model_pixels, const npu::FrameGeometry& geometry) {
  const OrientedBox& box = model_pixels;
  const bool is_wide = box.width >= box.height;
  const double longer = is_wide ? box.width : box.height;
  const double direction = is_wide ? box.angle : box.angle + std::numbers::pi / 2;
  const double x = longer * std::cos(direction) * geometry.scale_x;
  const double y = longer * std::sin(direction) * geometry.scale_y;
  const double length = std::hypot(x, y);
  const double area = box.width * box.height * geometry.scale_x * geometry.scale_y;
  const double across = length > 0 ? area / length : 0;
  const double turned = std::atan2(y, x);
  return {.center_x = (box.center_x - geometry.offset_x) * geometry.scale_x,
          .center_y = (box.center_y - geometry.offset_y) * geometry.scale_y,
          .width = is_wide ? length : across,
          .height = is_wide ? across : length,
          .angle = half_turn(is_wide ? turned : turned - std::numbers::pi / 2)};
}

std::array<double, 4> enclosing(const OrientedBox& box) {
  const double cosine = std::abs(std::cos(box.angle)), sine = std::abs(std::sin(box.angle));
  const double x = (box.width * cosine + box.height * sine) / 2;
  const double y = (box.width * sine + box.height * cosine) / 2;
  return {box.center_x - x, box.center_y - y, box.center_x + x, box.center_y + y};
}

Gaussian gaussian_of(const OrientedBox& box) {
  constexpr double kOfUniform = 12;  // a uniform side's variance is its square over 12
  const double along = box.width * box.width / kOfUniform;
  const double across = box.height * box.height / kOfUniform;
  const double cosine = std::cos(box.angle), sine = std::sin(box.angle);
  return {.x = box.center_x,
          .y = box.center_y,
          .xx = along * cosine * cosine + across * sine * sine,
          .yy = along * sine * sine + across * cosine * cosine,
          .xy = (along - across) * cosine * sine};
}

double probabilistic_overlap(const Gaussian& a, const Gaussian& b) {
  constexpr double kTiny = 1e-7, kFar = 100;
  const double x = a.x - b.x, y = a.y - b.y;
  const double xx = a.xx + b.xx, yy = a.yy + b.yy, xy = a.xy + b.xy;
  const double both = xx * yy - xy * xy;
  const double one = std::max(a.xx * a.yy - a.xy * a.xy, 0.0);
  const double other = std::max(b.xx * b.yy - b.xy * b.xy, 0.0);
  const double apart = (xx * y * y + yy * x * x - 2 * xy * x * y) / (both + kTiny) / 4;
  const double unlike = std::log(both / (4 * std::sqrt(one * other) + kTiny) + kTiny) / 2;
  const double distance = std::clamp(apart + unlike, kTiny, kFar);  // Bhattacharyya's
  return 1 - std::sqrt(1 - std::exp(-distance) + kTiny);
}

}  // namespace npu::vision
