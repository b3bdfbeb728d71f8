#include "drawing.hpp"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "common/refs.hpp"

#include "palette.hpp"
#include "strokes.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using npu::vision::KeyPoint;
using npu::vision::OrientedBox;
using npu::vision::Skeleton;

constexpr double kLeastKeyPointConfidence = 0.3;
constexpr guint8 kShadowOpacity = 110;

constexpr std::size_t kManyKeyPoints = 30;  // bodies with more get small points

bool is_there(const KeyPoint& point) {
  return point.confidence >= kLeastKeyPointConfidence && std::isfinite(point.x) &&
         std::isfinite(point.y);
}

bool is_somewhere(const OrientedBox& box) {
  return std::isfinite(box.center_x) && std::isfinite(box.center_y) && std::isfinite(box.width) &&
         std::isfinite(box.height) && std::isfinite(box.angle);
}

/// The mask's column or row, of `count`, at the middle of a pixel.
guint cell_at(int pixel, double start, double length, guint count) {
  const double place = (pixel + 0.5 - start) / length * count;
  return place > 0 ? static_cast<guint>(std::min(place, count - 1.0)) : 0;
}

}  // namespace

Look Look::for_height(int frame_height) const {
  Look look = *this;
  if (look.line_width == 0) {
    look.line_width = static_cast<guint>(std::clamp(frame_height / 360, 2, 12));
  }
  if (std::isnan(look.mask_opacity)) {  // NaN passes GObject's range check, and never equals itself
    look.mask_opacity = 0;
  }
  if (look.text_height == 0) {
    look.text_height = static_cast<guint>(std::clamp(frame_height / 36, 11, 72));
  }
  return look;
}

Drawing::Drawing(const Look& look) : look_(look), lettering_(static_cast<int>(look.text_height)) {}

void Drawing::begin(FrameSize frame) {
  frame_ = frame;
  next_line_ = 0;
  lettering_.begin_frame();
  layout_.begin(static_cast<int>(frame.width), static_cast<int>(frame.height));
  tags_.clear();
  forget_sprites();
}

void Drawing::forget_sprites() {
  sprites_.clear();
  coverages_used_ = 0;
  lettering_.clean_up();
}

std::vector<guint8>& Drawing::new_coverage(std::size_t size) {
  if (coverages_used_ == coverages_.size()) {
    coverages_.emplace_back();
  }
  std::vector<guint8>& coverage = coverages_[coverages_used_++];
  coverage.assign(size, 0);
  return coverage;
}

void Drawing::add_rectangle(const Box& box, Color color, guint8 opacity) {
  if (box.left >= box.right || box.top >= box.bottom) return;
  sprites_.push_back({.x = box.left,
                      .y = box.top,
                      .width = box.right - box.left,
                      .height = box.bottom - box.top,
                      .color = color,
                      .opacity = opacity});
}

/// Draws a dark line inside the outline, so that it shows on its own color too.
void Drawing::add_outline(const Box& box, Color color) {
  const auto frame_of = [&](const Box& outer, int width, Color line, guint8 opacity) {
    const int x = std::min(width, (outer.right - outer.left + 1) / 2);
    const int y = std::min(width, (outer.bottom - outer.top + 1) / 2);
    add_rectangle({outer.left, outer.top, outer.right, outer.top + y}, line, opacity);
    add_rectangle(
        {outer.left, std::max(outer.bottom - y, outer.top + y), outer.right, outer.bottom}, line,
        opacity);
    const int top = outer.top + y, bottom = outer.bottom - y;
    add_rectangle({outer.left, top, outer.left + x, bottom}, line, opacity);
    add_rectangle({std::max(outer.right - x, outer.left + x), top, outer.right, bottom}, line,
                  opacity);
  };
  const int width = static_cast<int>(look_.line_width);
  const Box inner{box.left + width, box.top + width, box.right - width, box.bottom - width};
  if (inner.right - inner.left > 2 && inner.bottom - inner.top > 2) {
    frame_of(inner, 1, {0, 0, 0}, kShadowOpacity);
  }
  frame_of(box, width, color, 255);
}

void Drawing::add_mask(const FoundMask& mask, Color color) {
  const Box box{to_pixel(mask.x, frame_.width), to_pixel(mask.y, frame_.height),
                to_pixel(mask.x + mask.width, frame_.width),
                to_pixel(mask.y + mask.height, frame_.height)};
  const int width = box.right - box.left, height = box.bottom - box.top;
  if (width <= 0 || height <= 0 || mask.columns == 0 || mask.rows == 0) return;
  auto& coverage = new_coverage(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  // A part outside the frame is cut off, not squeezed in.
  std::vector<guint> columns;
  for (int x = box.left; x < box.right; ++x) {
    columns.push_back(cell_at(x, mask.x, mask.width, mask.columns));
  }
  auto* to = coverage.data();
  for (int y = box.top; y < box.bottom; ++y) {
    const std::size_t row = cell_at(y, mask.y, mask.height, mask.rows);
    const guint8* from = mask.values.data() + row * mask.columns;
    to = std::transform(columns.begin(), columns.end(), to,
                        [from](guint column) { return from[column]; });
  }
  sprites_.push_back({.x = box.left,
                      .y = box.top,
                      .width = width,
                      .height = height,
                      .color = color,
                      .opacity = static_cast<guint8>(std::lround(255 * look_.mask_opacity)),
                      .coverage = coverage.data(),
                      .coverage_stride = static_cast<std::size_t>(width)});
}

int Drawing::to_pixel(double place, std::uint32_t limit) {
  return place > 0 ? static_cast<int>(std::lround(std::min(place, static_cast<double>(limit)))) : 0;
}

Box Drawing::nowhere() const {
  return {static_cast<int>(frame_.width), static_cast<int>(frame_.height), 0, 0};
}

void Drawing::widen(Box* box, double x, double y) const {
  const int column = to_pixel(x, frame_.width), row = to_pixel(y, frame_.height);
  *box = {std::min(box->left, column), std::min(box->top, row), std::max(box->right, column),
          std::max(box->bottom, row)};
}

void Drawing::add_lines(const Box& around, Color color, guint8 opacity,
                        const std::function<void(cairo_t*)>& draw) {
  const int margin = 3 * static_cast<int>(look_.line_width) + 1;
  const Box box{std::max(around.left - margin, 0), std::max(around.top - margin, 0),
                std::min(around.right + margin, static_cast<int>(frame_.width)),
                std::min(around.bottom + margin, static_cast<int>(frame_.height))};
  const int width = box.right - box.left, height = box.bottom - box.top;
  if (width <= 0 || height <= 0) return;
  const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_A8, width);
  auto& coverage =
      new_coverage(static_cast<std::size_t>(stride) * static_cast<std::size_t>(height));
  const std::unique_ptr<cairo_surface_t, FreeBy<cairo_surface_destroy>> surface(
      cairo_image_surface_create_for_data(coverage.data(), CAIRO_FORMAT_A8, width, height, stride));
  {
    const std::unique_ptr<cairo_t, FreeBy<cairo_destroy>> cairo(cairo_create(surface.get()));
    cairo_translate(cairo.get(), -box.left, -box.top);
    cairo_set_line_width(cairo.get(), look_.line_width);
    cairo_set_line_cap(cairo.get(), CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo.get(), CAIRO_LINE_JOIN_ROUND);
    draw(cairo.get());
  }
  cairo_surface_flush(surface.get());
  sprites_.push_back({.x = box.left,
                      .y = box.top,
                      .width = width,
                      .height = height,
                      .color = color,
                      .opacity = opacity,
                      .coverage = coverage.data(),
                      .coverage_stride = static_cast<std::size_t>(stride)});
}

void Drawing::add_turned(const OrientedBox& box, Color color) {
  const double c = std::cos(box.angle) / 2, s = std::sin(box.angle) / 2;
  const double x = std::abs(c * box.width) + std::abs(s * box.height);
  const double y = std::abs(s * box.width) + std::abs(c * box.height);
  const Box around{
      to_pixel(box.center_x - x, frame_.width), to_pixel(box.center_y - y, frame_.height),
      to_pixel(box.center_x + x, frame_.width), to_pixel(box.center_y + y, frame_.height)};
  add_lines(around, color, 255, [&](cairo_t* cairo) {
    constexpr std::pair<int, int> kCorners[] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (const auto& [right, down] : kCorners) {
      line_to(cairo, box.center_x + right * c * box.width - down * s * box.height,
              box.center_y + right * s * box.width + down * c * box.height);
    }
    cairo_close_path(cairo);
    cairo_stroke(cairo);
  });
}

void Drawing::add_key_points(std::span<const KeyPoint> points, const Skeleton& skeleton,
                             Color color) {
  Box around = nowhere();
  for (const KeyPoint& point : points) {
    if (!is_there(point)) continue;
    widen(&around, point.x, point.y);
  }
  const double radius = (points.size() > kManyKeyPoints ? 0.8 : 1.5) * look_.line_width;
  add_lines(around, color, 255, [&](cairo_t* cairo) {
    for (const auto& [first, second] : skeleton) {
      if (first >= points.size() || second >= points.size()) continue;
      if (!is_there(points[first]) || !is_there(points[second])) continue;
      move_to(cairo, points[first].x, points[first].y);
      line_to(cairo, points[second].x, points[second].y);
      // One stroke for each line: a single stroke of thousands of crossing lines would take a
      // second.
      cairo_stroke(cairo);
    }
    for (const KeyPoint& point : points) {
      if (!is_there(point)) continue;
      add_circle(cairo, point.x, point.y, radius);
      cairo_fill(cairo);
    }
  });
}

void Drawing::add_trail(guint64 id, const Trails::Trail& trail) {
  constexpr std::size_t kPieces = 8;
  const std::size_t steps = trail.points.empty() ? 0 : trail.points.size() - 1;
  const std::size_t pieces = std::min(kPieces, steps);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = piece * steps / pieces, last = (piece + 1) * steps / pieces;
    Box around = nowhere();
    for (std::size_t i = first; i <= last; ++i) {
      widen(&around, trail.points[i].x, trail.points[i].y);
    }
    const auto opacity = static_cast<guint8>(60 + 180 * (piece + 1) / pieces);
    add_lines(around, color_of_track(id), opacity, [&](cairo_t* cairo) {
      // Round ends would be drawn twice where pieces meet.
      cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
      for (std::size_t i = first; i <= last; ++i) {
        line_to(cairo, trail.points[i].x, trail.points[i].y);
      }
      cairo_stroke(cairo);
    });
  }
}

/// Returns the x where the text ends.
int Drawing::add_text(std::string_view text, int x, int y, Color color) {
  const Bitmap& bitmap = lettering_.of(text);
  if (bitmap.width == 0) return x;
  sprites_.push_back({.x = x,
                      .y = y,
                      .width = bitmap.width,
                      .height = bitmap.height,
                      .color = color,
                      .coverage = bitmap.coverage.data(),
                      .coverage_stride = static_cast<std::size_t>(bitmap.width)});
  return x + bitmap.width;
}

Color Drawing::color_of(const FoundObject& region) {
  return region.identity ? color_of_track(region.identity->id) : color_of_label(region.label);
}

Box Drawing::box_of(const FoundObject& region) const {
  return {to_pixel(region.x, frame_.width), to_pixel(region.y, frame_.height),
          to_pixel(region.x + region.width, frame_.width),
          to_pixel(region.y + region.height, frame_.height)};
}

void Drawing::add(const FoundObject& region) {
  const Color color = color_of(region);
  if (look_.with_masks && region.mask) {
    add_mask(*region.mask, color);
  }
  if (region.oriented && is_somewhere(*region.oriented)) {
    add_turned(*region.oriented, color);
  } else {
    add_outline(box_of(region), color);
    layout_.avoid_outline(box_of(region), static_cast<int>(look_.line_width));
  }
  if (!region.key_points.empty()) {
    add_key_points(
        region.key_points,
        region.skeleton ? *region.skeleton : npu::vision::skeleton_of({}, region.key_points.size()),
        color);
  }
}

void Drawing::add_line(std::string_view text) {
  if (next_line_ >= static_cast<int>(frame_.height)) return;
  add_paper(text, next_line_);
  next_line_ += lettering_.of(text).height;
}

void Drawing::add_bottom_line(std::string_view text) {
  add_paper(text, std::max(static_cast<int>(frame_.height) - lettering_.of(text).height, 0));
}

/// White on black is legible on any picture.
void Drawing::add_paper(std::string_view text, int y) {
  const Bitmap& bitmap = lettering_.of(text);
  if (bitmap.width == 0) return;
  const int margin = static_cast<int>(look_.text_height) / 4;
  const Box paper{0, y, bitmap.width + 2 * margin, y + bitmap.height};
  add_rectangle(paper, {0, 0, 0}, 150);
  layout_.avoid(paper);
  add_text(text, margin, y, {255, 255, 255});
}

}  // namespace gstnpu
