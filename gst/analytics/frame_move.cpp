#include "frame_move.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::KeyPoint;
using npu::vision::Map;
using npu::vision::Mask;
using npu::vision::Object;
using npu::vision::OrientedBox;

namespace {

FrameArea clipped(const FrameArea& edges, FrameSize frame) {
  const double width = frame.width, height = frame.height;
  return {std::clamp(edges.left, 0.0, width), std::clamp(edges.top, 0.0, height),
          std::clamp(edges.right, 0.0, width), std::clamp(edges.bottom, 0.0, height)};
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

/// As many places for a pixel as before.
std::uint32_t places(double per_pixel, std::uint32_t pixels) {
  const double count = std::round(per_pixel * pixels);
  return static_cast<std::uint32_t>(std::clamp<double>(count, 1, pixels));
}

/// The place that a coordinate is in; none outside.
std::optional<std::size_t> place_of(double at, double first, double length, std::uint32_t count) {
  const double place = std::floor((at - first) / length * count);
  if (!(place >= 0 && place < count)) return std::nullopt;
  return static_cast<std::size_t>(place);
}

/// Appends the mask to the answer's; empty where the object's box is out of the frame.
Mask moved_mask(const Answer& answer, const Mask& mask, const FrameMove& move, FrameSize frame,
                std::vector<std::uint8_t>* pixels) {
  const FrameArea old{static_cast<double>(mask.x), static_cast<double>(mask.y),
                      static_cast<double>(mask.x) + mask.width,
                      static_cast<double>(mask.y) + mask.height};
  const FrameArea edges = clipped(moved(old, move), frame);
  Mask result;
  result.x = static_cast<std::uint32_t>(std::floor(edges.left));
  result.y = static_cast<std::uint32_t>(std::floor(edges.top));
  result.width = static_cast<std::uint32_t>(std::ceil(edges.right)) - result.x;
  result.height = static_cast<std::uint32_t>(std::ceil(edges.bottom)) - result.y;
  result.first = pixels->size();
  if (result.width == 0 || result.height == 0) return result;
  double across = mask.columns / old.width(), down = mask.rows / old.height();
  if (move.is_transposed) {
    std::swap(across, down);
  }
  result.columns = places(across / std::abs(move.scale_x), result.width);
  result.rows = places(down / std::abs(move.scale_y), result.height);
  for (std::uint32_t row = 0; row < result.rows; ++row) {
    for (std::uint32_t column = 0; column < result.columns; ++column) {
      const FrameMove::Point was =
          move.back(result.x + (column + 0.5) * result.width / result.columns,
                    result.y + (row + 0.5) * result.height / result.rows);
      const auto x = place_of(was.x, old.left, old.width(), mask.columns);
      const auto y = place_of(was.y, old.top, old.height(), mask.rows);
      pixels->push_back(x && y ? answer.mask_pixels[mask.first + *y * mask.columns + *x] : 0);
    }
  }
  return result;
}

[[noreturn]] void refuse_map() {
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "the frame has borders that the model did not see, and its map says nothing of "
                   "them; put nputensordec in front of the element that adds them");
}

/// `size`: of the result.
template <typename Value>
Map<Value> resampled(const Map<Value>& map, const FrameMove& move, const MapAreas& areas,
                     std::pair<std::uint32_t, std::uint32_t> size) {
  const auto& [from, to] = areas;
  Map<Value> result{size.first, size.second, {}};
  result.values.reserve(std::size_t{result.width} * result.height);
  for (std::uint32_t row = 0; row < result.height; ++row) {
    for (std::uint32_t column = 0; column < result.width; ++column) {
      const FrameMove::Point was = move.back(to.left + (column + 0.5) * to.width() / result.width,
                                             to.top + (row + 0.5) * to.height() / result.height);
      const auto x = place_of(was.x, from.left, from.width(), map.width);
      const auto y = place_of(was.y, from.top, from.height(), map.height);
      if (!x || !y) {
        refuse_map();
      }
      result.values.push_back(map.values[*y * map.width + *x]);
    }
  }
  return result;
}

FrameArea whole(FrameSize frame) {
  return {0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
}

/// Values for a pixel of the frame, across and down.
template <typename Value>
std::pair<double, double> density(const Map<Value>& map, const FrameMove& move,
                                  const FrameArea& from) {
  double across = map.width / from.width(), down = map.height / from.height();
  if (move.is_transposed) {
    std::swap(across, down);
  }
  return {across / std::abs(move.scale_x), down / std::abs(move.scale_y)};
}

template <typename Value>
Map<Value> moved_map(const Map<Value>& map, const FrameMove& move, FrameSize from, FrameSize to) {
  if (map.empty()) return {};
  const auto [across, down] = density(map, move, whole(from));
  return resampled(map, move, {whole(from), whole(to)},
                   {places(across, to.width), places(down, to.height)});
}

/// Has as many values as that part of the map, which may be more than pixels.
template <typename Value>
Map<Value> map_of_object(const Map<Value>& map, const FrameMove& move, const MapAreas& areas) {
  if (map.empty() || areas.from.is_empty() || areas.to.is_empty()) return {};
  const auto [across, down] = density(map, move, areas.from);
  const auto count = [](double values, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::clamp<double>(std::round(values), 1, most));
  };
  const std::uint32_t most = std::max(map.width, map.height);
  return resampled(map, move, areas,
                   {count(across * areas.to.width(), most), count(down * areas.to.height(), most)});
}

/// Nothing where it is outside of the frame.
std::optional<Object> moved_object(const Object& object, const FrameMove& move, FrameSize frame) {
  const FrameArea edges =
      clipped(moved({object.left, object.top, object.right, object.bottom}, move), frame);
  if (edges.width() <= 0 || edges.height() <= 0) return std::nullopt;
  Object result = object;
  result.left = edges.left;
  result.top = edges.top;
  result.right = edges.right;
  result.bottom = edges.bottom;
  if (object.oriented) {
    result.oriented = moved_box(*object.oriented, move);
  }
  return result;
}

/// The objects with what each of them has.
void move_objects(const Answer& answer, const FrameMove& move, FrameSize frame, Answer* result) {
  result->key_points_per_object = answer.key_points_per_object;
  for (std::size_t i = 0; i < answer.objects.size(); ++i) {
    const std::optional<Object> object = moved_object(answer.objects[i], move, frame);
    if (!object) continue;
    result->objects.push_back(*object);
    for (const KeyPoint& point : answer.key_points_of(i)) {
      result->key_points.push_back(moved_point(point, move, frame));
    }
    if (i < answer.masks.size()) {
      result->masks.push_back(
          moved_mask(answer, answer.masks[i], move, frame, &result->mask_pixels));
    }
  }
}

Answer moved_without_maps(const Answer& answer, const FrameMove& move, FrameSize to) {
  Answer result;
  move_objects(answer, move, to, &result);
  result.classes = answer.classes;
  result.anomaly = answer.anomaly;
  result.embedding = answer.embedding;
  result.text = answer.text;
  result.text_confidence = answer.text_confidence;
  return result;
}

}  // namespace

FrameMove::Point FrameMove::of(double x, double y) const {
  if (is_transposed) {
    std::swap(x, y);
  }
  return {scale_x * x + move_x, scale_y * y + move_y};
}

FrameMove::Point FrameMove::back(double x, double y) const {
  const Point was{(x - move_x) / scale_x, (y - move_y) / scale_y};
  return is_transposed ? Point{was.y, was.x} : was;
}

/// The model's pixels are known for the pixels of both frames, which links them.
FrameMove move_between(const GstNpuInferenceMeta& origin, const GstNpuInferenceMeta& meta) {
  const bool turned = meta.is_transposed != origin.is_transposed;
  const double scale_x = turned ? origin.scale_y : origin.scale_x;
  const double scale_y = turned ? origin.scale_x : origin.scale_y;
  const double offset_x = turned ? origin.offset_y : origin.offset_x;
  const double offset_y = turned ? origin.offset_x : origin.offset_y;
  return {turned, meta.scale_x / scale_x, meta.scale_y / scale_y,
          (offset_x - meta.offset_x) * meta.scale_x, (offset_y - meta.offset_y) * meta.scale_y};
}

FrameArea moved(const FrameArea& area, const FrameMove& move) {
  const FrameMove::Point a = move.of(area.left, area.top);
  const FrameMove::Point b = move.of(area.right, area.bottom);
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

FrameArea common(const FrameArea& a, const FrameArea& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

Answer moved(const Answer& answer, const FrameMove& move, FrameSize from, FrameSize to) {
  Answer result = moved_without_maps(answer, move, to);
  result.class_map = moved_map(answer.class_map, move, from, to);
  result.value_map = moved_map(answer.value_map, move, from, to);
  return result;
}

Answer moved(const Answer& answer, const FrameMove& move, const MapAreas& maps, FrameSize to) {
  Answer result = moved_without_maps(answer, move, to);
  result.class_map = map_of_object(answer.class_map, move, maps);
  result.value_map = map_of_object(answer.value_map, move, maps);
  return result;
}

}  // namespace gstnpu
