// Draws class maps and value maps.
#include <algorithm>
#include <cmath>

#include "drawing.hpp"
#include "palette.hpp"

namespace gstnpu {

void Drawing::add_map(const ColoredMap& map, const FrameArea& area) {
  const MapSpan span{area.left, area.top, area.width(), area.height()};
  const bool is_somewhere = std::isfinite(span.left) && std::isfinite(span.top) &&
                            std::isfinite(span.width) && std::isfinite(span.height) &&
                            span.width > 0 && span.height > 0;
  if (!is_somewhere || map.colors.empty()) return;
  const Box box{to_pixel(span.left, frame_.width), to_pixel(span.top, frame_.height),
                to_pixel(span.left + span.width, frame_.width),
                to_pixel(span.top + span.height, frame_.height)};
  const int columns = box.right - box.left, rows = box.bottom - box.top;
  if (columns <= 0 || rows <= 0) return;
  auto& numbers = new_coverage(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  scale(map, {span.left - box.left, span.top - box.top, span.width, span.height}, columns, rows,
        numbers.data());
  map_colors_ = map.colors;
  sprites_.push_back({.x = box.left,
                      .y = box.top,
                      .width = columns,
                      .height = rows,
                      .opacity = static_cast<guint8>(std::lround(255 * look_.mask_opacity)),
                      .coverage = numbers.data(),
                      .coverage_stride = static_cast<std::size_t>(columns),
                      .palette = map_colors_});
}

/// Sorted by class number: by share, lines would change places from frame to frame. Only the upper
/// half of the frame is used, or a legend would cover a small one.
void Drawing::add_legend(const ColoredMap& map) {
  constexpr std::size_t kMost = 8;
  constexpr double kLeastShare = 0.005;
  if (!look_.with_labels) return;
  std::vector<MapClass> shown = map.classes;
  const int room = static_cast<int>(frame_.height) / 2 - next_line_;
  const auto tag_of = [](const MapClass& one) {
    return Tag{one.label, percent(one.share), one.color};
  };
  const int line = shown.empty() ? 0 : line_height(tag_of(shown.front()));
  const int lines = line > 0 ? room / line : 0;
  shown.resize(std::min({shown.size(), kMost, static_cast<std::size_t>(std::max(lines, 1))}));
  std::erase_if(shown, [](const MapClass& one) { return one.share < kLeastShare; });
  std::sort(shown.begin(), shown.end(),
            [](const MapClass& a, const MapClass& b) { return a.id < b.id; });
  for (const MapClass& one : shown) {
    if (next_line_ >= static_cast<int>(frame_.height)) return;
    const Tag tag = tag_of(one);
    const Label label = label_of(tag, {});
    const Box place{0, next_line_, label.width, next_line_ + label.height};
    draw_tag(tag, place);
    layout_.avoid(place);
    next_line_ += label.height;
  }
}

}  // namespace gstnpu
