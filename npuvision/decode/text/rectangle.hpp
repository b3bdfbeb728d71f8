// Finds the smallest rectangle, at any angle, around points.
#pragma once

#include <array>
#include <span>
#include <vector>

#include <npuvision/answer.hpp>

namespace npu::vision {

struct Point {
  double x = 0, y = 0;
};

/// Corners in order around the box; the first two are ends of a side that is `width` long.
std::array<Point, 4> corners_of(const OrientedBox& box);

/// Finds smallest rectangles; keeps its memory.
class SmallestRectangle {
 public:
  /// Sorts the points; there must be at least one. The longer side becomes the width.
  OrientedBox around(std::vector<Point>* points);

 private:
  void make_hull(std::vector<Point>* points);

  std::vector<Point> hull_;
};

}  // namespace npu::vision
