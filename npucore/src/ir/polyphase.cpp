#include "polyphase.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/text.hpp"

namespace npu::ir {
namespace {

using base::text;

// Up to this many, Intel's estimate counts them faster than Interpolate (5010, 256 of 1080 rows:
// 518 against 657 us). More but smaller convolutions gain little.
constexpr std::int64_t kMostPhases = 64;
// Most f32 weights, to stay small beside a model's.
constexpr std::int64_t kMostWeights = 1'500'000;
// Results in a group. NPUs compute channels by sixteens.
constexpr std::int64_t kWantedGroup = 16, kMostGroup = 64;

std::int64_t floor_of(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/// The smallest multiple of `period` that divides `width` and is 16 or more, else the largest
/// below.
std::int64_t group_of(std::int64_t period, std::int64_t width) {
  auto found = period;
  for (auto group = period; group <= kMostGroup && found < kWantedGroup; group += period) {
    if (width % group == 0) {
      found = group;
    }
  }
  return found;
}

bool uses(const ColorMap& map, const PlaneView& view) {
  return std::any_of(view.channels.begin(), view.channels.end(), [&](const auto& channel) {
    return channel.share != 0 && map.uses(channel.component);
  });
}

bool fits(const FrameLayout& frame, const PlaneShape& shape) {
  return frame.width % shape.pixels_x == 0 && frame.height % shape.pixels_y == 0 &&
         frame.crop_left % shape.pixels_x == 0 && frame.crop_top % shape.pixels_y == 0;
}

/// Empty if the plane's samples cannot be grouped.
std::optional<Polyphase::Plane> plan_plane(const FrameLayout& frame, const Placement& place,
                                           const ColorMap& map, std::size_t index) {
  const auto shape = plane_shapes(frame.format)[index];
  if (!fits(frame, shape)) return std::nullopt;
  Polyphase::Plane plane{index, plane_suffixes(frame.format)[index],
                         Period::of(frame.height / shape.pixels_y, place.height),
                         Period::of(frame.width / shape.pixels_x, place.width), shape.sample_bytes};
  plane.kernel_width = plane.columns.looks_outside() ? 3 : 1;
  for (const auto& view : plane_views(frame.format)) {
    if (view.plane != index || !uses(map, view)) continue;
    Polyphase::View found{view, shape.sample_bytes, plane.columns};
    if (view.full_width_of_pairs) {
      found.column_bytes /= 2;
      found.columns = Period::of(frame.width, place.width);
      // A copy of the edge's pair would put its far pixel next to the picture.
      if (found.columns.looks_outside()) return std::nullopt;
    }
    plane.views.push_back(std::move(found));
  }
  return plane;
}

bool is_small(const Polyphase& polyphase, std::size_t channels) {
  std::int64_t weights = 0;
  for (const auto& plane : polyphase.planes) weights += 2 * plane.group_bytes * plane.kernel_width;
  weights *= polyphase.group * static_cast<std::int64_t>(channels);
  return weights * polyphase.phases <= kMostWeights;
}

void set_group(Polyphase& polyphase, std::int64_t group) {
  polyphase.group = group;
  for (auto& plane : polyphase.planes) {
    plane.group_bytes = group / plane.columns.results * plane.columns.inputs * plane.sample_bytes;
  }
}

/// Whether there are groups that are small enough.
bool find_groups(Polyphase& polyphase, std::size_t channels) {
  std::int64_t columns = 1;
  for (const auto& plane : polyphase.planes) {
    polyphase.phases = std::lcm(polyphase.phases, plane.rows.results);
    columns = std::lcm(columns, plane.columns.results);
    for (const auto& view : plane.views) columns = std::lcm(columns, view.columns.results);
    if (polyphase.phases > kMostPhases || columns > kMostGroup) return false;
  }
  for (const auto group : {group_of(columns, polyphase.width), columns}) {
    set_group(polyphase, group);
    if (is_small(polyphase, channels)) return true;
  }
  return false;
}

/// A plane's rows, from which each phase takes its own, and the weights of their columns.
class Strip {
 public:
  Strip(GraphBuilder& builder, const Polyphase& polyphase, const Polyphase::Plane& plane,
        const ColorMap& map, const Value& bytes)
      : builder_(builder), label_("rows/" + plane.name), plane_(&plane), value_(bytes) {
    period_ = plane.rows.inputs * (polyphase.phases / plane.rows.results);
    if (plane.kernel_width > 1) {
      repeat_edges("columns", 2, plane.group_bytes / plane.sample_bytes);
    }
    if (plane.rows.looks_outside()) {
      repeat_edges("edges", 1, 1);
    }
    periods_ = polyphase.height / polyphase.phases;
    row_bytes_ = value_.shape[2] * value_.shape[3];
    weigh_columns(polyphase.group, map);
  }

  bool lies_as(const Strip& other) const {
    return row_bytes_ == other.row_bytes_ && plane_->group_bytes == other.plane_->group_bytes;
  }
  const Polyphase::Plane& plane() const { return *plane_; }
  /// The weight of a byte, among the groups that the kernel sees, for a result's channel.
  double weight(std::int64_t channel, std::int64_t byte) const {
    return weights_[static_cast<std::size_t>(channel * plane_->kernel_width * plane_->group_bytes +
                                             byte)];
  }
  /// A row out of each period: u8, [1, periods, 1, bytes].
  Value row(std::int64_t at) {
    const std::int64_t shift = at < 0 ? -1 : at < period_ ? 0 : 1;
    return cut(shift, at - shift, 1);
  }
  Value two_rows(std::int64_t first) {
    if (first >= 0 && first + 1 < period_) return cut(0, first, 2);
    return builder_.concat(text(label_, "/joined", first), {row(first), row(first + 1)}, 2);
  }

 private:
  /// Repeats the first and the last sample at both ends of an axis.
  void repeat_edges(const char* name, std::int64_t axis, std::int64_t count) {
    const auto size = value_.shape[static_cast<std::size_t>(axis)];
    const auto label = text(label_, '/', name);
    const auto first = builder_.slice(label + "/first", value_, {{axis, 0, 1}});
    const auto last = builder_.slice(label + "/last", value_, {{axis, size - 1, size}});
    std::vector<Value> all(static_cast<std::size_t>(count), first);
    all.push_back(value_);
    all.insert(all.end(), static_cast<std::size_t>(count), last);
    value_ = builder_.concat(label, all, axis);
  }

  /// The rows by period, starting `shift` rows further down.
  const Value& by_period(std::int64_t shift) {
    const auto [known, is_new] = shifted_.try_emplace(shift);
    if (is_new) {
      const auto label = text(label_, "/periods", shift);
      auto rows = value_;
      if (plane_->rows.looks_outside()) {
        rows =
            builder_.slice(label + "/cut", rows, {{1, 1 + shift, 1 + shift + periods_ * period_}});
      }
      known->second = builder_.reshape(label, rows, {1, periods_, period_, row_bytes_});
    }
    return known->second;
  }

  Value cut(std::int64_t shift, std::int64_t first, std::int64_t count) {
    return builder_.slice(text(label_, '/', first + shift, '/', count), by_period(shift),
                          {{2, first, first + count}});
  }

  void weigh_columns(std::int64_t group, const ColorMap& map) {
    const auto row_size = plane_->kernel_width * plane_->group_bytes;
    const auto first_group = plane_->kernel_width > 1 ? plane_->group_bytes : 0;
    for (std::int64_t result = 0; result < group; ++result) {
      for (const auto& colors : map.rows) {
        std::vector<double> weights(static_cast<std::size_t>(row_size));
        for (const auto& view : plane_->views)
          weigh_view(view, result, colors, first_group, weights);
        weights_.insert(weights_.end(), weights.begin(), weights.end());
      }
    }
  }

  static void weigh_view(const Polyphase::View& view, std::int64_t result,
                         const ColorMap::Row& colors, std::int64_t first_group,
                         std::vector<double>& weights) {
    const auto tap = view.columns.tap(result);
    const auto add = [&](std::int64_t column, double share) {
      auto byte =
          static_cast<std::size_t>(first_group + column * view.column_bytes) + view.view.first_byte;
      for (const auto& channel : view.view.channels) {
        weights[byte++] += share * channel.share * colors[channel.component];
      }
    };
    add(tap.first, 1 - tap.share);
    if (tap.share > 0) {
      add(tap.first + 1, tap.share);
    }
  }

  GraphBuilder& builder_;
  std::string label_;
  const Polyphase::Plane* plane_;
  Value value_;
  std::int64_t period_ = 1, periods_ = 1, row_bytes_ = 0;
  std::map<std::int64_t, Value> shifted_;
  std::vector<double> weights_;
};

/// One convolution of a phase: its rows, with the strip and the share of each.
struct Part {
  struct Row {
    const Strip* strip;
    double share;
  };
  std::vector<Value> values;
  std::vector<Row> rows;

  void take(Strip& strip, const Tap& tap) {
    values.push_back(tap.share > 0 ? strip.two_rows(tap.first) : strip.row(tap.first));
    rows.push_back({&strip, 1 - tap.share});
    if (tap.share > 0) {
      rows.push_back({&strip, tap.share});
    }
  }
};

/// Gives planes of the same layout one convolution.
std::vector<Part> parts_of(std::vector<Strip>& strips, std::int64_t phase) {
  std::vector<Part> parts;
  for (auto& strip : strips) {
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& other) {
      return other.rows.front().strip->lies_as(strip);
    });
    if (part == parts.end()) {
      part = parts.insert(part, Part{});
    }
    part->take(strip, strip.plane().rows.tap(phase));
  }
  return parts;
}

/// [channels, rows, bytes of a group]
std::vector<double> matrix_of(const Part& part, std::int64_t channels) {
  const auto& plane = part.rows.front().strip->plane();
  std::vector<double> matrix;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (const auto& [strip, share] : part.rows) {
      for (std::int64_t byte = 0; byte < plane.group_bytes; ++byte) {
        matrix.push_back(share * strip->weight(channel, byte));
      }
    }
  }
  return matrix;
}

/// [channels, bytes of a group, rows, groups]
std::vector<double> kernel_of(const Part& part, std::int64_t channels) {
  const auto& plane = part.rows.front().strip->plane();
  std::vector<double> kernel;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t byte = 0; byte < plane.group_bytes; ++byte) {
      for (const auto& [strip, share] : part.rows) {
        for (std::int64_t group = 0; group < plane.kernel_width; ++group) {
          kernel.push_back(share * strip->weight(channel, group * plane.group_bytes + byte));
        }
      }
    }
  }
  return kernel;
}

class PhaseBuilder {
 public:
  PhaseBuilder(GraphBuilder& builder, const Polyphase& polyphase, const ColorMap& map, double white)
      : builder_(builder), polyphase_(polyphase), map_(map), white_(white) {}

  /// One phase of the result: f32, [1, periods, 1, a row of results].
  Value build(std::vector<Strip>& strips, std::int64_t phase) {
    const auto label = text("phase/", phase);
    const auto parts = parts_of(strips, phase);
    auto sum = convolved(label, parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto name = text(label, '/', i);
      sum = builder_.add(name + "/sum", sum, convolved(name, parts[i]));
    }
    sum = limited(label, biased(label, sum));
    const auto rows = builder_.transpose(label + "/rows", sum, {0, 2, 3, 1});
    return builder_.reshape(label + "/row", rows,
                            {1, rows.shape[1], 1, rows.shape[2] * rows.shape[3]});
  }

 private:
  std::int64_t channels() const {
    return polyphase_.group * static_cast<std::int64_t>(map_.rows.size());
  }

  Value convolved(const std::string& label, const Part& part) {
    const auto& plane = part.rows.front().strip->plane();
    const auto rows = builder_.concat(label + "/planes", part.values, 2);
    const auto count = static_cast<std::int64_t>(part.rows.size());
    // Rows of one group each form one matrix. As a kernel of several rows, OpenVINO 2026's CPU
    // plugin would read beyond its weights.
    if (rows.shape[3] == plane.group_bytes && plane.kernel_width == 1) {
      const auto bytes = count * plane.group_bytes;
      const auto planar = planar_floats(label, rows, {1, rows.shape[1], 1, bytes});
      return builder_.convolve(label + "/filter", planar, matrix_of(part, channels()),
                               {channels(), bytes, 1, 1}, 1);
    }
    const auto planar = planar_floats(
        label, rows,
        {1, rows.shape[1] * rows.shape[2], rows.shape[3] / plane.group_bytes, plane.group_bytes});
    return builder_.convolve(label + "/filter", planar, kernel_of(part, channels()),
                             {channels(), plane.group_bytes, count, plane.kernel_width}, count);
  }

  Value planar_floats(const std::string& label, const Value& rows, const Shape& shape) {
    const auto groups = builder_.reshape(label + "/groups", rows, shape);
    const auto floats = builder_.convert_bytes(label + "/to_float", groups);
    return builder_.transpose(label + "/channels", floats, {0, 3, 1, 2});
  }

  Value biased(const std::string& label, const Value& value) {
    const auto& bias = map_.bias;
    if (std::all_of(bias.begin(), bias.end(), [](double one) { return one == 0; })) return value;
    std::vector<double> all;
    for (std::int64_t i = 0; i < polyphase_.group; ++i) {
      all.insert(all.end(), bias.begin(), bias.end());
    }
    return builder_.add(label + "/bias", value, all);
  }

  Value limited(const std::string& label, const Value& value) {
    return map_.limited ? builder_.clamp(label + "/limit", value, 0, white_) : value;
  }

  GraphBuilder& builder_;
  const Polyphase& polyphase_;
  const ColorMap& map_;
  double white_;
};

}  // namespace

Period Period::of(std::int64_t inputs, std::int64_t results) {
  const auto common = std::gcd(inputs, results);
  return {inputs / common, results / common};
}

Tap Period::tap(std::int64_t result) const {
  // (result + 1/2) * inputs / results - 1/2, in halves of a result's width.
  const auto at = (2 * result + 1) * inputs - results;
  const auto first = floor_of(at, 2 * results);
  return {first, static_cast<double>(at - first * 2 * results) / static_cast<double>(2 * results)};
}

std::optional<Polyphase> plan_polyphase(const FrameLayout& frame, const Placement& place,
                                        const ColorMap& map) {
  Polyphase found{place.width, place.height};
  for (std::size_t index = 0; index < frame.planes.size(); ++index) {
    auto plane = plan_plane(frame, place, map, index);
    if (!plane) return std::nullopt;
    if (!plane->views.empty()) {
      found.planes.push_back(std::move(*plane));
    }
  }
  if (!find_groups(found, map.rows.size())) return std::nullopt;
  return found;
}

Value build_polyphase(GraphBuilder& builder, FramePlanes& planes, const Polyphase& polyphase,
                      const ColorMap& map, double white) {
  std::vector<Strip> strips;
  strips.reserve(polyphase.planes.size());
  for (const auto& plane : polyphase.planes) {
    strips.emplace_back(builder, polyphase, plane, map, planes.bytes(plane.index));
  }
  PhaseBuilder phase_builder(builder, polyphase, map, white);
  std::vector<Value> phases;
  for (std::int64_t phase = 0; phase < polyphase.phases; ++phase) {
    phases.push_back(phase_builder.build(strips, phase));
  }
  const auto channels = static_cast<std::int64_t>(map.rows.size());
  const auto rows = builder.concat("phases", phases, 2);
  const auto picture =
      builder.reshape("picture", rows, {1, polyphase.height, polyphase.width, channels});
  return builder.transpose("planar", picture, {0, 3, 1, 2});
}

}  // namespace npu::ir
