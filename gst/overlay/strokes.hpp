// Paths for cairo with coordinates of any size.
#pragma once

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gstnpu {

/// Limits a coordinate: cairo's wrap around at 2^23. NaN becomes 0.
inline double to_cairo(double place) {
  constexpr double kFarthest = 1 << 20;
  return std::isnan(place) ? 0 : std::clamp(place, -kFarthest, kFarthest);
}

inline void move_to(cairo_t* cairo, double x, double y) {
  cairo_move_to(cairo, to_cairo(x), to_cairo(y));
}

inline void line_to(cairo_t* cairo, double x, double y) {
  cairo_line_to(cairo, to_cairo(x), to_cairo(y));
}

inline void add_circle(cairo_t* cairo, double x, double y, double radius) {
  cairo_new_sub_path(cairo);
  cairo_arc(cairo, to_cairo(x), to_cairo(y), radius, 0, 2 * std::numbers::pi);
}

}  // namespace gstnpu
