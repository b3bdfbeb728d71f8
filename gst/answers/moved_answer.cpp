// Moves answers with their frames.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "frame_answer.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using npu::vision::KeyPoint;
using npu::vision::OrientedBox;

FrameArea whole(FrameSize frame) {
  return {0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
}

/// Into -pi/2 up to, not including, pi/2: a box looks the same when it is turned by pi.
double half_turn(double angle) {
  constexpr double kPi = std::numbers::pi;
  return angle - kPi * std::floor(angle / kPi + 0.5);
}

/// With uneven scales, the rectangle whose sides are as long as those of the slanted box.
OrientedBox moved_box(const OrientedBox& box, const FrameMove& move) {
  const FrameMove linear{move.is_transposed, move.scale_x, move.scale_y};
  const FrameMove::Point centre = move.of(box.center_x, box.center_y);
  const double cosine = std::cos(box.angle), sine = std::sin(box.angle);
  const FrameMove::Point along = linear.of(cosine, sine), across = linear.of(-sine, cosine);
  return {centre.x, centre.y, box.width * std::hypot(along.x, along.y),
          box.height * std::hypot(across.x, across.y), half_turn(std::atan2(along.y, along.x))};
}

KeyPoint moved_point(const KeyPoint& point, const FrameMove& move, FrameSize frame) {
  const FrameMove::Point at = move.of(point.x, point.y);
  KeyPoint result{std::clamp<double>(at.x, 0, frame.width),
                  std::clamp<double>(at.y, 0, frame.height), point.confidence};
  if (result.x != at.x || result.y != at.y) {
    result.confidence = 0;
  }
  return result;
}

// ---- Rasters: each place takes the value of the place that it was.

/// Columns and rows of values over an area, and the part of it that is kept, once it has moved.
struct RasterMove {
  FrameMove move;
  FrameArea from, kept;
  guint columns, rows;  // over `from`

  /// Nothing is cut off, mirrored or turned: the values stay.
  bool is_scale() const {
    const FrameArea all = moved(from, move);
    const auto is_near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
    return !move.is_transposed && move.scale_x > 0 && move.scale_y > 0 &&
           is_near(all.left, kept.left) && is_near(all.top, kept.top) &&
           is_near(all.right, kept.right) && is_near(all.bottom, kept.bottom);
  }

  /// As many places as the part had, at least one.
  std::pair<guint, guint> size() const {
    const FrameArea all = moved(from, move);
    const double across = move.is_transposed ? rows : columns;
    const double down = move.is_transposed ? columns : rows;
    const auto count = [](double places) {
      return static_cast<guint>(std::max(std::round(places), 1.0));
    };
    return {count(across * std::min(kept.width() / all.width(), 1.0)),
            count(down * std::min(kept.height() / all.height(), 1.0))};
  }
};

std::size_t place_of(double at, double first, double length, guint count) {
  const double place = std::floor((at - first) / length * count);
  return static_cast<std::size_t>(std::clamp(place, 0.0, count - 1.0));
}

template <typename Value>
void resample(const RasterMove& raster, guint* columns, guint* rows, std::vector<Value>* values) {
  if (raster.is_scale()) return;
  const auto [width, height] = raster.size();
  std::vector<Value> result;
  result.reserve(std::size_t{width} * height);
  for (guint row = 0; row < height; ++row) {
    for (guint column = 0; column < width; ++column) {
      const FrameMove::Point was =
          raster.move.back(raster.kept.left + (column + 0.5) * raster.kept.width() / width,
                           raster.kept.top + (row + 0.5) * raster.kept.height() / height);
      const auto x = place_of(was.x, raster.from.left, raster.from.width(), *columns);
      const auto y = place_of(was.y, raster.from.top, raster.from.height(), *rows);
      result.push_back((*values)[y * *columns + x]);
    }
  }
  *columns = width;
  *rows = height;
  *values = std::move(result);
}

/// Nothing where it is out of the frame.
std::optional<FoundMask> moved_mask(FoundMask mask, const FrameMove& move, FrameSize frame) {
  const FrameArea from = mask.area(), kept = common(moved(from, move), whole(frame));
  if (from.is_empty() || kept.is_empty() || mask.values.empty()) return std::nullopt;
  resample(RasterMove{move, from, kept, mask.columns, mask.rows}, &mask.columns, &mask.rows,
           &mask.values);
  mask.x = kept.left;
  mask.y = kept.top;
  mask.width = kept.width();
  mask.height = kept.height();
  return mask;
}

template <typename Value>
void resample_map(const FrameMove& move, const FrameArea& from, const FrameArea& kept,
                  npu::vision::Map<Value>* map) {
  if (map->empty()) return;
  resample(RasterMove{move, from, kept, map->width, map->height}, &map->width, &map->height,
           &map->values);
}

/// Leaves no values where nothing of the area is kept.
void move_map(const FrameMove& move, const FrameArea& kept, FoundMap* map) {
  if (map->area.is_empty() || kept.is_empty()) {
    map->classes = {};
    map->values = {};
    return;
  }
  resample_map(move, map->area, kept, &map->classes);
  resample_map(move, map->area, kept, &map->values);
  map->area = kept;
}

/// False where it is outside of the frame.
bool move_object(const FrameMove& move, FrameSize frame, FoundObject* object) {
  const FrameArea area = common(moved(object->area(), move), whole(frame));
  if (!(area.width() > 0 && area.height() > 0)) return false;
  object->x = area.left;
  object->y = area.top;
  object->width = area.width();
  object->height = area.height();
  if (object->oriented) {
    object->oriented = moved_box(*object->oriented, move);
  }
  for (KeyPoint& point : object->key_points) point = moved_point(point, move, frame);
  if (object->mask) {
    object->mask = moved_mask(std::move(*object->mask), move, frame);
  }
  return true;
}

void move_maps(const FrameMove& move, FrameSize frame, FrameAnswer* answer) {
  std::erase_if(answer->maps, [&](FoundMap& map) {
    if (map.object_id && !answer->find(*map.object_id)) return true;
    move_map(move, common(moved(map.area, move), whole(frame)), &map);
    return map.classes.empty() && map.values.empty();
  });
}

/// From shares of one frame to shares of the other.
void move_places(const FrameMove& move, FrameSize from, FrameSize to, FrameCounts* counts) {
  const auto move_point = [&](npu::vision::FramePoint& point) {
    const FrameMove::Point at = move.of(point.x * from.width, point.y * from.height);
    point = {at.x / to.width, at.y / to.height};
  };
  for (auto& zone : counts->zones) {
    for (auto& corner : zone.corners) move_point(corner);
  }
  for (auto& line : counts->lines) {
    move_point(line.from);
    move_point(line.to);
  }
}

}  // namespace

FrameAnswer moved(const FrameAnswer& answer, const FrameMove& move, FrameSize to) {
  FrameAnswer result = answer;
  result.frame = to;
  std::erase_if(result.objects,
                [&](FoundObject& object) { return !move_object(move, to, &object); });
  move_maps(move, to, &result);
  move_places(move, answer.frame, to, &result.counts);
  return result;
}

void cut(FoundMap* map, const FrameArea& area) {
  move_map({}, common(map->area, area), map);
}

}  // namespace gstnpu
