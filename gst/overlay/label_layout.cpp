#include "label_layout.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace gstnpu {
namespace {

// In a frame; nobody reads more, and more take long.
constexpr std::size_t kMostLabels = 200, kMostOutlines = 400;

Box box_at(const Label::Corner& corner, const Label& label) {
  return {corner.x, corner.y, corner.x + label.width, corner.y + label.height};
}

/// Pixels of the outline that `box` covers.
long covered(const Box& outline, int line_width, const Box& box) {
  const Box all = common(outline, box);
  if (all.is_empty()) return 0;
  const Box inner{outline.left + line_width, outline.top + line_width, outline.right - line_width,
                  outline.bottom - line_width};
  return all.area() - common(inner, box).area();
}

bool overlap_by_half(const Box& one, const Box& other) {
  const long both = common(one, other).area();
  return 2 * both > one.area() + other.area() - both;
}

}  // namespace

Box common(const Box& one, const Box& other) {
  return {std::max(one.left, other.left), std::max(one.top, other.top),
          std::min(one.right, other.right), std::min(one.bottom, other.bottom)};
}

void LabelLayout::begin(int width, int height) {
  frame_ = {0, 0, width, height};
  labels_.clear();
  placed_.clear();
  outlines_.clear();
}

/// A label that would lie outside is moved, and counts as if it covered another one.
long LabelLayout::cost_of(const Label& label, std::size_t corner) const {
  constexpr long kOfLabels = 4;  // a letter that is covered is lost, and an outline is long
  const Box wanted = box_at(label.corners[corner], label), box = inside_frame(wanted);
  long letters = wanted.area() - common(frame_, wanted).area();
  for (const Box& other : placed_) letters += common(other, box).area();
  long lines = 0;
  const std::span all(outlines_);
  for (const Outline& outline : all.last(std::min(all.size(), kMostOutlines))) {
    if (!label.heeds_outlines || outline.box == label.owner) continue;
    lines += covered(outline.box, outline.line_width, box);
  }
  return kOfLabels * letters + lines;
}

std::size_t LabelLayout::choose(const Label& label, std::optional<std::size_t> before) const {
  constexpr long kMuch = 4;  // a quarter of the label
  long least = std::numeric_limits<long>::max(), kept = least;
  if (before) {
    kept = cost_of(label, *before);
    if (kept == 0) return *before;
  }
  std::size_t best = 0;
  for (std::size_t i = 0; i < label.corners.size() && least > 0; ++i) {
    const long cost = cost_of(label, i);
    if (cost >= least) continue;
    least = cost;
    best = i;
  }
  const long area = long{label.width} * label.height;
  return before && kept - least <= area / kMuch ? *before : best;
}

/// The nearest label of that name whose owner is about where it was.
std::optional<std::size_t> LabelLayout::found_again(const Placed& before,
                                                    const std::vector<bool>& is_placed) const {
  std::optional<std::size_t> nearest;
  long most = 0;
  for (std::size_t i = 0; i < is_placed.size(); ++i) {
    const Label& label = labels_[i];
    if (is_placed[i] || label.name != before.name) continue;
    if (label.owner == before.owner) return i;  // which may be a line without an area
    const long shared = common(label.owner, before.owner).area();
    if (shared <= most || !overlap_by_half(label.owner, before.owner)) continue;
    nearest = i;
    most = shared;
  }
  return nearest;
}

Box LabelLayout::inside_frame(const Box& box) const {
  const int width = box.right - box.left, height = box.bottom - box.top;
  const int left = std::clamp(box.left, 0, std::max(frame_.right - width, 0));
  const int top = std::clamp(box.top, 0, std::max(frame_.bottom - height, 0));
  return {left, top, left + width, top + height};
}

/// Those of the last frame choose first, in its order: a new one moves none of them.
std::vector<Box> LabelLayout::place() {
  std::vector<Box> places(labels_.size());
  std::vector<Placed> now;
  std::vector<bool> is_placed(std::min(labels_.size(), kMostLabels));
  const auto put = [&](std::size_t index, std::optional<std::size_t> before) {
    const Label& label = labels_[index];
    const std::size_t corner = choose(label, before);
    places[index] = inside_frame(box_at(label.corners[corner], label));
    placed_.push_back(places[index]);
    now.push_back({label.name, label.owner, corner});
    is_placed[index] = true;
  };
  for (const Placed& before : last_) {
    const auto index = found_again(before, is_placed);
    if (index && before.corner < labels_[*index].corners.size()) {
      put(*index, before.corner);
    }
  }
  for (std::size_t i = 0; i < is_placed.size(); ++i) {
    if (!is_placed[i]) {
      put(i, std::nullopt);
    }
  }
  for (std::size_t i = is_placed.size(); i < labels_.size(); ++i) {
    places[i] = inside_frame(box_at(labels_[i].corners.front(), labels_[i]));
  }
  last_ = std::move(now);
  return places;
}

}  // namespace gstnpu
