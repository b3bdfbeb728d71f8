#include "trails.hpp"

#include <cmath>

namespace gstnpu {
namespace {

constexpr std::size_t kMostTrails = 1000;
constexpr std::size_t kMostPoints = 500;

}  // namespace

void Trails::forget_older_than(double seconds) {
  std::erase_if(trails_, [seconds](const auto& one) { return one.second.seen < seconds; });
  for (auto& [id, trail] : trails_) {
    std::deque<Point>& points = trail.points;
    while (!points.empty() && points.front().seconds < seconds) points.pop_front();
  }
}

void Trails::update(double seconds, double length, double step, Anchor anchor,
                    std::span<const FoundObject> regions) {
  if (seconds < seconds_) {
    clear();
  }
  seconds_ = seconds;
  forget_older_than(seconds - length);
  for (const FoundObject& region : regions) {
    if (!region.identity) continue;
    const auto [x, y] = point_of(region, anchor);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    if (trails_.size() >= kMostTrails && !trails_.contains(region.identity->id)) continue;
    Trail& trail = trails_[region.identity->id];
    trail.seen = seconds;
    const bool is_new_place = trail.points.empty() || std::hypot(x - trail.points.back().x,
                                                                 y - trail.points.back().y) >= step;
    if (!is_new_place) continue;
    trail.points.push_back({x, y, seconds});
    if (trail.points.size() > kMostPoints) {
      trail.points.pop_front();
    }
  }
}

}  // namespace gstnpu
