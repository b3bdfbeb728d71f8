// Draws the zones and lines of npucount.
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "drawing.hpp"
#include "palette.hpp"
#include "strokes.hpp"

namespace gstnpu {
namespace {

constexpr guint8 kGroundOpacity = 45;

}  // namespace

/// Converts 0..1 to frame pixels.
npu::vision::FramePoint Drawing::in_pixels(const npu::vision::FramePoint& point) const {
  return {point.x * frame_.width, point.y * frame_.height};
}

Box Drawing::around(std::span<const npu::vision::FramePoint> points) const {
  Box box = nowhere();
  for (const auto& point : points) {
    widen(&box, point.x * frame_.width, point.y * frame_.height);
  }
  return box;
}

/// Draws a closed line along points, as one sprite or as one for each edge, whichever has fewer
/// pixels.
void Drawing::add_edges(std::span<const npu::vision::FramePoint> points, Color color) {
  const auto area = [](const Box& box) {
    return static_cast<double>(box.right - box.left + 1) * (box.bottom - box.top + 1);
  };
  const auto draw = [&](std::span<const npu::vision::FramePoint> part) {
    add_lines(around(part), color, 255, [&](cairo_t* cairo) {
      for (const auto& point : part) {
        const auto [x, y] = in_pixels(point);
        line_to(cairo, x, y);
      }
      cairo_stroke(cairo);
    });
  };
  std::vector<npu::vision::FramePoint> closed(points.begin(), points.end());
  closed.push_back(points.front());
  const std::span<const npu::vision::FramePoint> all(closed);
  double of_edges = 0;
  for (std::size_t i = 0; i < points.size(); ++i) of_edges += area(around(all.subspan(i, 2)));
  if (of_edges >= area(around(all))) return draw(all);
  for (std::size_t i = 0; i < points.size(); ++i) draw(all.subspan(i, 2));
}

void Drawing::add_zone(const npu::vision::ZoneCount& zone) {
  if (zone.corners.size() < 3) return;
  const Color color = color_of_label(zone.name);
  add_lines(around(zone.corners), color, kGroundOpacity, [&](cairo_t* cairo) {
    for (const auto& point : zone.corners) {
      const auto [x, y] = in_pixels(point);
      line_to(cairo, x, y);
    }
    cairo_fill(cairo);
  });
  add_edges(zone.corners, color);
}

/// Draws the line with an arrow from its middle that points forward: to the right as one walks
/// along the line.
void Drawing::add_count_line(const npu::vision::LineCount& line) {
  // Clang 14 lambdas cannot capture structured bindings.
  const npu::vision::FramePoint from = in_pixels(line.from), to = in_pixels(line.to);
  const double x0 = from.x, y0 = from.y, x1 = to.x, y1 = to.y;
  const double length = std::hypot(x1 - x0, y1 - y0);
  if (!(length > 0)) return;
  const double right = (x1 - x0) / length, down = (y1 - y0) / length;  // along the line
  const double arrow = 8.0 * look_.line_width, head = 3.0 * look_.line_width;
  const double x = (x0 + x1) / 2, y = (y0 + y1) / 2;
  const double tip_x = x - down * arrow, tip_y = y + right * arrow;
  Box box = around(std::array{line.from, line.to});
  widen(&box, tip_x, tip_y);
  add_lines(box, color_of_label(line.name), 255, [&](cairo_t* cairo) {
    move_to(cairo, x0, y0);
    line_to(cairo, x1, y1);
    move_to(cairo, x, y);
    line_to(cairo, tip_x, tip_y);
    for (const int side : {-1, 1}) {
      move_to(cairo, tip_x, tip_y);
      line_to(cairo, tip_x + head * (down + side * right), tip_y + head * (side * down - right));
    }
    cairo_stroke(cairo);
    for (const auto& end : {from, to}) add_circle(cairo, end.x, end.y, 1.5 * look_.line_width);
    cairo_fill(cairo);
  });
}

}  // namespace gstnpu
