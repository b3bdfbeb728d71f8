#include "object_difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace {

using npu::vision::KeyPoint;
using npu::vision::Mask;
using npu::vision::Object;
using npu::vision::OrientedBox;

struct Corner {
  double x, y;
};

std::array<Corner, 4> corners_of(const OrientedBox& box) {
  const double cosine = std::cos(box.angle) / 2, sine = std::sin(box.angle) / 2;
  const double across_x = box.width * cosine, across_y = box.width * sine;
  const double down_x = -box.height * sine, down_y = box.height * cosine;
  return {Corner{box.center_x - across_x - down_x, box.center_y - across_y - down_y},
          Corner{box.center_x + across_x - down_x, box.center_y + across_y - down_y},
          Corner{box.center_x + across_x + down_x, box.center_y + across_y + down_y},
          Corner{box.center_x - across_x + down_x, box.center_y - across_y + down_y}};
}

double shift_of_corners(const OrientedBox& one, const OrientedBox& other) {
  double most = 0;
  for (const Corner& corner : corners_of(one)) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Corner& candidate : corners_of(other)) {
      nearest = std::min(nearest, std::hypot(corner.x - candidate.x, corner.y - candidate.y));
    }
    most = std::max(most, nearest);
  }
  return most;
}

double shift_of_edges(const Object& one, const Object& other) {
  if (one.oriented && other.oriented) return shift_of_corners(*one.oriented, *other.oriented);
  return std::max({std::abs(one.left - other.left), std::abs(one.top - other.top),
                   std::abs(one.right - other.right), std::abs(one.bottom - other.bottom)});
}

/// Both points of each key point that both objects have.
template <typename Visit>
void for_each_point(const ObjectOf& one, const ObjectOf& other, const Visit& visit) {
  const std::size_t points = one.answer.key_points_per_object;
  if (points != other.answer.key_points_per_object) return;
  for (std::size_t i = 0; i < points; ++i) {
    visit(one.answer.key_points_of(one.index)[i], other.answer.key_points_of(other.index)[i]);
  }
}

/// Empty if the object has no mask.
Mask mask_of(const ObjectOf& object) {
  const auto& masks = object.answer.masks;
  return object.index < masks.size() ? masks[object.index] : Mask{};
}

bool belongs(const ObjectOf& object, const Mask& mask, std::uint32_t x, std::uint32_t y) {
  if (x < mask.x || y < mask.y || x >= mask.x + mask.width || y >= mask.y + mask.height) {
    return false;
  }
  const auto column = std::size_t{x - mask.x} * mask.columns / mask.width;
  const auto row = std::size_t{y - mask.y} * mask.rows / mask.height;
  return object.answer.mask_pixels[mask.first + row * mask.columns + column] != 0;
}

}  // namespace

double overlap(const Object& one, const Object& other) {
  const double width = std::min(one.right, other.right) - std::max(one.left, other.left);
  const double height = std::min(one.bottom, other.bottom) - std::max(one.top, other.top);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const Object& box) {
    return (box.right - box.left) * (box.bottom - box.top);
  };
  return width * height / (area(one) + area(other) - width * height);
}

double largest_shift(const ObjectOf& one, const ObjectOf& other) {
  double most = shift_of_edges(one.object(), other.object());
  for_each_point(one, other, [&](const KeyPoint& point, const KeyPoint& other_point) {
    most = std::max(most, std::hypot(point.x - other_point.x, point.y - other_point.y));
  });
  return most;
}

double largest_score_difference(const ObjectOf& one, const ObjectOf& other) {
  double most = std::abs(one.object().confidence - other.object().confidence);
  for_each_point(one, other, [&](const KeyPoint& point, const KeyPoint& other_point) {
    most = std::max(most, std::abs(static_cast<double>(point.confidence) - other_point.confidence));
  });
  return most;
}

double mask_overlap(const ObjectOf& one, const ObjectOf& other) {
  const Mask mine = mask_of(one), others = mask_of(other);
  std::size_t shared = 0, either = 0;
  const auto right = std::max(mine.x + mine.width, others.x + others.width);
  const auto bottom = std::max(mine.y + mine.height, others.y + others.height);
  for (std::uint32_t y = std::min(mine.y, others.y); y < bottom; ++y) {
    for (std::uint32_t x = std::min(mine.x, others.x); x < right; ++x) {
      const bool is_mine = belongs(one, mine, x, y), is_others = belongs(other, others, x, y);
      shared += is_mine && is_others ? 1 : 0;
      either += is_mine || is_others ? 1 : 0;
    }
  }
  return either > 0 ? static_cast<double>(shared) / static_cast<double>(either) : 1;
}
