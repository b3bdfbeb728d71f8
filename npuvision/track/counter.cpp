#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <npucore/error.hpp>
#include <npuvision/counter.hpp>

namespace npu::vision {
namespace {

constexpr double kLeastLength = 1e-6;
// Limits the memory where objects are never given up.
constexpr std::size_t kMostObjects = 16384;

/// Positive where `point` is to the right of the line from `from` to `to`; y goes down.
double side(const FramePoint& from, const FramePoint& to, const FramePoint& point) {
  return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

double length(const FramePoint& from, const FramePoint& to) {
  return std::hypot(to.x - from.x, to.y - from.y);
}

bool is_in_frame(const FramePoint& point) {
  return point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1;
}

/// Whether a ray to the right crosses the edges an odd number of times; edges may cross each other.
bool contains(const std::vector<FramePoint>& corners, const FramePoint& point) {
  bool is_inside = false;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const FramePoint &a = corners[i], &b = corners[(i + 1) % corners.size()];
    if ((a.y > point.y) == (b.y > point.y)) continue;
    const double x = a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x);
    is_inside = is_inside != (point.x < x);
  }
  return is_inside;
}

/// Looks for a point inside, right beside the middle of an edge.
bool has_area(const std::vector<FramePoint>& corners) {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const FramePoint &a = corners[i], &b = corners[(i + 1) % corners.size()];
    const double edge = length(a, b);
    if (edge < kLeastLength) continue;
    for (const double off : {kLeastLength / edge, -kLeastLength / edge}) {
      const FramePoint beside{(a.x + b.x) / 2 - off * (b.y - a.y),
                              (a.y + b.y) / 2 + off * (b.x - a.x)};
      if (contains(corners, beside)) return true;
    }
  }
  return false;
}

/// Distance from the segment from a to b.
double distance(const FramePoint& a, const FramePoint& b, const FramePoint& point) {
  const double x = b.x - a.x, y = b.y - a.y, square = x * x + y * y;
  const double along = square > 0 ? ((point.x - a.x) * x + (point.y - a.y) * y) / square : 0;
  const double part = std::clamp(along, 0.0, 1.0);
  return length({a.x + part * x, a.y + part * y}, point);
}

/// Distance from the nearest edge.
double distance(const std::vector<FramePoint>& corners, const FramePoint& point) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    least = std::min(least, distance(corners[i], corners[(i + 1) % corners.size()], point));
  }
  return least;
}

/// Moves points off the frame's lower and right edges, so that zones that reach there contain them.
FramePoint off_the_edge(const FramePoint& point) {
  const auto less = [](double place) { return place == 1 ? std::nextafter(place, 0) : place; };
  return {less(point.x), less(point.y)};
}

[[noreturn]] void refuse(const std::string& what, const std::string& name, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, what + " \"" + name + "\" " + why);
}

void check(const Zone& zone) {
  if (zone.corners.size() < 3) {
    refuse("zone", zone.name, "has fewer than three corners");
  }
  if (!std::all_of(zone.corners.begin(), zone.corners.end(), is_in_frame)) {
    refuse("zone", zone.name, "has a corner outside of the frame, which is from 0 to 1 each way");
  }
  if (!has_area(zone.corners)) {
    refuse("zone", zone.name, "has no area");
  }
}

void check(const CountLine& line) {
  if (!is_in_frame(line.from) || !is_in_frame(line.to)) {
    refuse("line", line.name, "has an end outside of the frame, which is from 0 to 1 each way");
  }
  if (length(line.from, line.to) < kLeastLength) {
    refuse("line", line.name, "has no length");
  }
}

/// Refuses negative numbers and NaN.
void check(const char* what, double number) {
  if (number >= 0) return;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + " is " +
                                               std::string(text.data(), end) +
                                               ", and must be a number that is not below 0");
}

}  // namespace

Counter::Counter(std::vector<Zone> zones, std::vector<CountLine> lines, double lost_seconds,
                 double margin)
    : lost_seconds_(lost_seconds), margin_(margin) {
  check("lost_seconds", lost_seconds);
  check("margin", margin);
  for (Zone& zone : zones) {
    check(zone);
    zone_counts_.push_back({{std::move(zone)}});
  }
  for (CountLine& line : lines) {
    check(line);
    line_counts_.push_back({{std::move(line)}});
  }
}

void Counter::set_zone_totals(std::size_t zone, std::uint64_t entered, std::uint64_t left,
                              double seconds_of_left) {
  ZoneCount& count = zone_counts_.at(zone);
  count.entered = entered;
  count.left = left;
  count.seconds_of_left = seconds_of_left;
}

void Counter::set_line_totals(std::size_t line, std::uint64_t forward, std::uint64_t backward) {
  line_counts_.at(line).forward = forward;
  line_counts_.at(line).backward = backward;
}

void Counter::forget_objects() {
  objects_.clear();
  events_.clear();
  seconds_.reset();
  for (ZoneCount& count : zone_counts_) count.inside.clear();
}

void Counter::update(double seconds, std::span<const Sighting> sightings) {
  if (!std::isfinite(seconds)) {
    seconds = seconds_.value_or(0);
  }
  if (seconds_ && seconds < *seconds_) {
    forget_objects();
  }
  events_.clear();
  seconds_ = seconds;
  ++frame_;
  for (const Sighting& sighting : sightings) {
    if (std::isfinite(sighting.place.x) && std::isfinite(sighting.place.y)) {
      see(seconds, sighting);
    }
  }
  forget_lost(seconds);
  for (std::size_t i = 0; i < zone_counts_.size(); ++i) {
    auto& inside = zone_counts_[i].inside;
    inside.clear();
    for (const auto& [id, object] : objects_) {
      const InZone& at = object.zones[i];
      if (at.entered) {
        inside.push_back({id, at.outside.value_or(seconds) - *at.entered});
      }
    }
  }
}

void Counter::see(double seconds, const Sighting& sighting) {
  Object& object = objects_[sighting.id];
  if (std::exchange(object.frame, frame_) == frame_) return;
  object.zones.resize(zone_counts_.size());
  object.lines.resize(line_counts_.size());
  for (std::size_t i = 0; i < zone_counts_.size(); ++i) see_in_zone(i, seconds, sighting, &object);
  for (std::size_t i = 0; i < line_counts_.size(); ++i) see_at_line(i, sighting, &object);
  object.seen = seconds;
}

void Counter::see_in_zone(std::size_t zone, double seconds, const Sighting& sighting,
                          Object* object) {
  ZoneCount& count = zone_counts_[zone];
  InZone& at = object->zones[zone];
  if (contains(count.corners, off_the_edge(sighting.place))) {
    at.outside.reset();
    if (at.entered) return;
    at.entered = seconds;
    ++count.entered;
    events_.push_back({.kind = CountEvent::Kind::kEntered, .place = count.name, .id = sighting.id});
  } else if (at.entered) {
    at.outside = at.outside.value_or(seconds);
    if (distance(count.corners, sighting.place) > margin_) {
      leave(zone, sighting.id, seconds, object);
    }
  }
}

/// The object leaves at `seconds`, or when it went out.
void Counter::leave(std::size_t zone, std::uint64_t id, double seconds, Object* object) {
  const InZone was = std::exchange(object->zones[zone], {});
  const double stayed = was.outside.value_or(seconds) - *was.entered;
  ZoneCount& count = zone_counts_[zone];
  ++count.left;
  count.seconds_of_left += stayed;
  events_.push_back(
      {.kind = CountEvent::Kind::kLeft, .place = count.name, .id = id, .seconds = stayed});
}

/// A point on the line changes nothing: an object that turns back there has not crossed.
void Counter::see_at_line(std::size_t line, const Sighting& sighting, Object* object) {
  const FramePoint &from = line_counts_[line].from, &to = line_counts_[line].to;
  const FramePoint& now = sighting.place;
  const double new_side = side(from, to, now);
  if (new_side == 0) return;
  AtLine& at = object->lines[line];
  const bool is_right = new_side > 0;
  const auto before = std::exchange(at.beside, now);
  if (!before) {
    at.is_right = is_right;
    return;
  }
  if ((side(from, to, *before) > 0) != is_right) {
    // Passing beyond an end of the line is no crossing. An end that two lines share belongs to only
    // one of them.
    at.is_between = (side(*before, now, from) >= 0) != (side(*before, now, to) >= 0);
  }
  const bool is_clear = std::abs(new_side) > margin_ * length(from, to);
  at.is_clear = at.is_clear || is_clear;
  if (at.is_right == is_right || !at.is_clear) return;
  at.is_right = is_right;
  at.is_clear = is_clear;
  if (at.is_between) {
    cross(line, sighting.id, is_right);
  }
}

void Counter::cross(std::size_t line, std::uint64_t id, bool is_forward) {
  LineCount& count = line_counts_[line];
  ++(is_forward ? count.forward : count.backward);
  events_.push_back({.kind = is_forward ? CountEvent::Kind::kForward : CountEvent::Kind::kBackward,
                     .place = count.name,
                     .id = id});
}

void Counter::forget_lost(double seconds) {
  const double since = std::max(seconds - lost_seconds_, seen_since());
  for (auto it = objects_.begin(); it != objects_.end();) {
    auto& [id, object] = *it;
    if (object.seen >= since) {
      ++it;
      continue;
    }
    for (std::size_t i = 0; i < zone_counts_.size(); ++i) {
      if (object.zones[i].entered) {
        leave(i, id, object.seen, &object);
      }
    }
    it = objects_.erase(it);
  }
}

/// Oldest time seen of the kMostObjects newest objects; minus infinity where there are no more than
/// that.
double Counter::seen_since() const {
  if (objects_.size() <= kMostObjects) return -std::numeric_limits<double>::infinity();
  std::vector<double> seen;
  for (const auto& [id, object] : objects_) seen.push_back(object.seen);
  const auto kept = seen.end() - static_cast<std::ptrdiff_t>(kMostObjects);
  std::nth_element(seen.begin(), kept, seen.end());
  return *kept;
}

}  // namespace npu::vision
