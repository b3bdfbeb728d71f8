#include "rectangle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace npu::vision {
namespace {

// Twice the triangle's area; positive if `c` is to the right of the line from a to b, with y
// downwards.
double turn(const Point& a, const Point& b, const Point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Normalises to [-pi/2, pi/2): half a turn gives the same box.
double normalised(double angle) {
  const double rest = std::remainder(angle, std::numbers::pi);
  return rest >= std::numbers::pi / 2 ? rest - std::numbers::pi : rest;
}

/// The rectangle around the points that has a side along the angle.
OrientedBox along(double angle, std::span<const Point> points) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  constexpr double kMost = std::numeric_limits<double>::max();
  double left = kMost, top = kMost, right = -kMost, bottom = -kMost;
  for (const Point& point : points) {
    const double x = point.x * cosine + point.y * sine, y = point.y * cosine - point.x * sine;
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
  const double x = (left + right) / 2, y = (top + bottom) / 2;
  return {x * cosine - y * sine, x * sine + y * cosine, right - left, bottom - top, angle};
}

OrientedBox with_longer_width(OrientedBox box) {
  if (box.width < box.height) {
    std::swap(box.width, box.height);
    box.angle += std::numbers::pi / 2;
  }
  box.angle = normalised(box.angle);
  return box;
}

}  // namespace

std::array<Point, 4> corners_of(const OrientedBox& box) {
  const double cosine = std::cos(box.angle) / 2, sine = std::sin(box.angle) / 2;
  const Point across{box.width * cosine, box.width * sine};
  const Point down{-box.height * sine, box.height * cosine};
  return {Point{box.center_x - across.x - down.x, box.center_y - across.y - down.y},
          Point{box.center_x + across.x - down.x, box.center_y + across.y - down.y},
          Point{box.center_x + across.x + down.x, box.center_y + across.y + down.y},
          Point{box.center_x - across.x + down.x, box.center_y - across.y + down.y}};
}

// The smallest rectangle has a side along an edge of the convex hull.
OrientedBox SmallestRectangle::around(std::vector<Point>* points) {
  make_hull(points);
  OrientedBox best = along(0, hull_);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < hull_.size(); ++i) {
    const Point &a = hull_[i], &b = hull_[(i + 1) % hull_.size()];
    const OrientedBox box = along(std::atan2(b.y - a.y, b.x - a.x), hull_);
    if (box.width * box.height < least) {
      least = box.width * box.height;
      best = box;
    }
  }
  return with_longer_width(best);
}

// Andrew's monotone chain.
void SmallestRectangle::make_hull(std::vector<Point>* points) {
  std::sort(points->begin(), points->end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  hull_.clear();
  const auto add = [this](std::size_t least, const Point& point) {
    while (hull_.size() >= least + 2 && turn(hull_[hull_.size() - 2], hull_.back(), point) <= 0) {
      hull_.pop_back();
    }
    hull_.push_back(point);
  };
  for (const Point& point : *points) add(0, point);
  const std::size_t half = hull_.size() - 1;
  for (auto point = points->rbegin() + 1; point != points->rend(); ++point) add(half, *point);
  if (hull_.size() > 1) {
    hull_.pop_back();  // equals the first
  }
}

}  // namespace npu::vision
