// Draws labels of objects, and of the zones and lines of npucount.
#include <algorithm>
#include <array>

#include "drawing.hpp"
#include "palette.hpp"

namespace gstnpu {
namespace {

constexpr guint8 kPaperOpacity = 220;

/// Words about an object, the number apart because it changes with every frame.
struct Words {
  std::string name, number;
};

Words words_of(const FoundObject& region) {
  Words words{region.label, region.confidence ? percent(*region.confidence) : ""};
  for (const FoundClass& said : region.classes) {
    if (said.label.empty()) continue;
    words.name += words.name.empty() ? said.label : ": " + said.label;
  }
  if (region.identity) {
    words.name += " #" + std::to_string(region.identity->id);
  }
  return words;
}

}  // namespace

int Drawing::baseline(const Tag& tag) {
  return std::max(lettering_.of(tag.name).baseline, lettering_.of(tag.number).baseline);
}

/// Both texts stand on one baseline, whatever fonts their letters come from.
int Drawing::line_height(const Tag& tag) {
  const auto below = [](const Bitmap& bitmap) { return bitmap.height - bitmap.baseline; };
  return baseline(tag) + std::max(below(lettering_.of(tag.name)), below(lettering_.of(tag.number)));
}

/// A label without corners; its name is that of the tag.
Label Drawing::label_of(const Tag& tag, const Box& owner) {
  const int margin = static_cast<int>(look_.text_height) / 4;
  Label label{.name = tag.name, .owner = owner, .height = line_height(tag)};
  label.width = lettering_.of(tag.name).width + lettering_.of(tag.number).width + 2 * margin;
  return label;
}

void Drawing::add_tag(Tag tag, Label label) {
  if (label.height == 0) return;
  layout_.add(std::move(label));
  tags_.push_back(std::move(tag));
}

bool Drawing::add_label(const FoundObject& region) {
  if (!look_.with_labels) return true;
  const auto [name, number] = words_of(region);
  if (name.empty() && number.empty()) return true;
  const std::size_t left_out = lettering_.left_out();
  const Tag tag{name, number, color_of(region)};
  const Box box = box_of(region);
  Label label = label_of(tag, box);
  const int width = label.width, height = label.height;
  const auto across = [&](int x) {
    return std::clamp(x, 0, std::max(static_cast<int>(frame_.width) - width, 0));
  };
  const int left = across(box.left), right = across(box.right - width);
  label.corners.push_back({left, box.top - height});
  label.corners.push_back({right, box.top - height});
  label.corners.push_back({left, box.bottom});
  label.corners.push_back({left, box.top});
  label.corners.push_back({left, box.bottom - height});
  label.corners.push_back({box.right, box.top});
  label.corners.push_back({box.left - width, box.top});
  label.corners.push_back({right, box.bottom});
  add_tag(tag, std::move(label));
  return lettering_.left_out() == left_out;
}

/// Inside the zone first: labels of objects stand above their boxes.
void Drawing::add_zone_tag(const npu::vision::ZoneCount& zone) {
  if (zone.corners.size() < 3) return;
  const Tag tag{zone.name + ":",
                " " + std::to_string(zone.inside.size()) + " inside, " +
                    std::to_string(zone.entered) + " in, " + std::to_string(zone.left) + " out",
                color_of_label(zone.name)};
  const Box box = around(zone.corners);
  Label label = label_of(tag, box);
  label.heeds_outlines = false;
  const int margin = static_cast<int>(look_.line_width);
  const int left = box.left + margin, right = box.right - margin - label.width;
  for (const int y : {box.top + margin, box.bottom - margin - label.height,
                      box.top - margin - label.height, box.bottom + margin}) {
    label.corners.push_back({left, y});
    label.corners.push_back({right, y});
  }
  add_tag(tag, std::move(label));
}

/// At the line's middle first, then nearer to its ends.
void Drawing::add_line_tag(const npu::vision::LineCount& line) {
  const Tag tag{
      line.name + ":",
      " " + std::to_string(line.forward) + " forward, " + std::to_string(line.backward) + " back",
      color_of_label(line.name)};
  Label label = label_of(tag, around(std::array{line.from, line.to}));
  label.heeds_outlines = false;
  const int margin = 2 * static_cast<int>(look_.line_width);
  const auto add = [&](double share, bool is_left, bool is_above) {
    const npu::vision::FramePoint &from = line.from, &to = line.to;
    const npu::vision::FramePoint at =
        in_pixels({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
    const int column = to_pixel(at.x, frame_.width), row = to_pixel(at.y, frame_.height);
    label.corners.push_back({is_left ? column - margin - label.width : column + margin,
                             is_above ? row - margin - label.height : row + margin});
  };
  for (const double share : {0.5, 0.25, 0.75}) {
    add(share, false, false);
    add(share, true, true);
  }
  add(0.5, true, false);
  add(0.5, false, true);
  add_tag(tag, std::move(label));
}

/// The first that was added lies on top.
void Drawing::draw_labels() {
  const std::vector<Box> places = layout_.place();
  for (std::size_t i = places.size(); i-- > 0;) draw_tag(tags_[i], places[i]);
  tags_.clear();
}

void Drawing::draw_tag(const Tag& tag, const Box& place) {
  add_rectangle(place, tag.color, kPaperOpacity);
  const Color ink = ink_on(tag.color);
  const int line = place.top + baseline(tag);
  const int left = place.left + static_cast<int>(look_.text_height) / 4;
  const int end = add_text(tag.name, left, line - lettering_.of(tag.name).baseline, ink);
  add_text(tag.number, end, line - lettering_.of(tag.number).baseline, ink);
}

}  // namespace gstnpu
