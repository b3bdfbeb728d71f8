#include "map_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <npuvision/labels.hpp>

#include "palette.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostColors = 255;
constexpr float kLeastAnomaly = 0.5F;
constexpr guint kWhole = 256;  // the way from one cell of a map to the next

bool is_background(const std::string& label) {
  constexpr const char* kNames[] = {"background", "__background__", "unlabeled",
                                    "unlabelled", "void",           "ignore"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) {
    return g_ascii_strcasecmp(label.c_str(), name) == 0;
  });
}

/// Pixels between the middles of two neighbouring columns of a map.
struct Stripe {
  int begin, end;
  guint first, second;
};

/// Pixels in one direction, by the map's columns or rows at their middles.
struct Axis {
  std::vector<Stripe> stripes;
  std::vector<guint16> ways;  ///< each pixel's way from its stripe's first to the second, in
                              ///< 1/kWhole
};

Axis axis_of(double start, double length, guint count, int pixels) {
  Axis axis;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const double place = std::clamp((pixel + 0.5 - start) / length * count - 0.5, 0.0, count - 1.0);
    const auto first = static_cast<guint>(place);
    if (axis.stripes.empty() || axis.stripes.back().first != first) {
      axis.stripes.push_back({pixel, pixel, first, std::min(first + 1, count - 1)});
    }
    axis.stripes.back().end = pixel + 1;
    axis.ways.push_back(static_cast<guint16>(std::lround((place - first) * kWhole)));
  }
  return axis;
}

/// A color number at the corners around some pixels, with its shares at the left and the right
/// corners, in 1/kWhole.
struct Candidate {
  guint8 number;
  guint left, right;
};

/// Interpolates between four corners of a class map: a pixel gets the number with the greatest
/// weight.
class Blend {
 public:
  Blend(guint8 upper_left, guint8 upper_right, guint8 lower_left, guint8 lower_right, guint down) {
    add(upper_left, kWhole - down, 0);
    add(upper_right, 0, kWhole - down);
    add(lower_left, down, 0);
    add(lower_right, 0, down);
  }

  bool is_plain() const { return count_ == 1; }
  guint8 first() const { return candidates_[0].number; }
  /// `way`: from left to right, in 1/kWhole.
  guint8 at(guint way) const {
    guint8 best = candidates_[0].number;
    guint most = weight(candidates_[0], way);
    for (std::size_t i = 1; i < count_; ++i) {
      const guint one = weight(candidates_[i], way);
      best = one > most ? candidates_[i].number : best;
      most = std::max(most, one);
    }
    return best;
  }

 private:
  static guint weight(const Candidate& of, guint way) {
    return of.left * (kWhole - way) + of.right * way;
  }
  void add(guint8 number, guint left, guint right) {
    std::size_t i = 0;
    while (i < count_ && candidates_[i].number != number) ++i;
    if (i == count_) {
      candidates_[count_++] = {number, 0, 0};
    }
    candidates_[i].left += left;
    candidates_[i].right += right;
  }

  std::array<Candidate, 4> candidates_{};
  std::size_t count_ = 0;
};

/// Draws a row of pixels between two rows of a class map.
void draw_row(const Axis& across, const guint8* upper, const guint8* lower, guint down,
              guint8* to) {
  for (const Stripe& stripe : across.stripes) {
    const Blend blend(upper[stripe.first], upper[stripe.second], lower[stripe.first],
                      lower[stripe.second], down);
    if (blend.is_plain()) {
      std::fill(to + stripe.begin, to + stripe.end, blend.first());
      continue;
    }
    for (int x = stripe.begin; x < stripe.end; ++x) {
      to[x] = blend.at(across.ways[static_cast<std::size_t>(x)]);
    }
  }
}

/// Next to a gap, values are not interpolated: the nearer one counts.
bool is_beside_a_gap(guint one, guint other, bool has_gaps) {
  return has_gaps && (one == 0 || other == 0);
}

/// Interpolates between two rows of a value map, times kWhole.
void fill_between(const guint8* upper, const guint8* lower, guint down, bool has_gaps,
                  std::vector<guint>* between) {
  for (std::size_t i = 0; i < between->size(); ++i) {
    (*between)[i] = is_beside_a_gap(upper[i], lower[i], has_gaps)
                        ? kWhole * (2 * down < kWhole ? upper[i] : lower[i])
                        : upper[i] * (kWhole - down) + lower[i] * down;
  }
}

/// Draws a row of pixels from interpolated values.
void draw_graded_row(const Axis& across, const std::vector<guint>& between, bool has_gaps,
                     guint8* to) {
  for (const Stripe& stripe : across.stripes) {
    const guint left = between[stripe.first], right = between[stripe.second];
    const bool is_split = is_beside_a_gap(left, right, has_gaps);
    for (int x = stripe.begin; x < stripe.end; ++x) {
      const guint way = across.ways[static_cast<std::size_t>(x)];
      if (is_split) {
        to[x] = static_cast<guint8>((2 * way < kWhole ? left : right) / kWhole);
        continue;
      }
      to[x] =
          static_cast<guint8>((left * (kWhole - way) + right * way + kWhole * kWhole / 2) >> 16);
    }
  }
}

/// Color for 0..1: blue, cyan, green, yellow, red.
Color heat(double t) {
  const auto wave = [t](double middle) {
    return static_cast<guint8>(
        std::lround(255 * std::clamp(1.5 - std::abs(4 * t - middle), 0., 1.)));
  };
  return {wave(3), wave(2), wave(1)};
}

}  // namespace

ColoredMap color_classes(const npu::vision::Map<guint16>& classes,
                         const std::vector<std::string>& labels) {
  ColoredMap map{.columns = classes.width, .rows = classes.height};
  std::vector<guint8> number_of(std::size_t{1} << 16, 0);
  auto counts = counted(classes.values);
  std::erase_if(counts, [&](const auto& one) {
    return is_background(npu::vision::label_of(labels, one.first));
  });
  const auto largest = largest_of(counts, kMostColors);
  const std::map<guint16, std::size_t> by_id(largest.begin(), largest.end());
  for (const auto& [id, count] : by_id) {
    const Color color = color_of_class(id);
    map.colors.push_back(color);
    number_of[id] = static_cast<guint8>(map.colors.size());
    const double share = static_cast<double>(count) / static_cast<double>(classes.values.size());
    map.classes.push_back({id, npu::vision::label_of(labels, id), share, color});
  }
  map.numbers.resize(classes.values.size());
  std::transform(classes.values.begin(), classes.values.end(), map.numbers.begin(),
                 [&](guint16 id) { return number_of[id]; });
  std::stable_sort(map.classes.begin(), map.classes.end(),
                   [](const MapClass& a, const MapClass& b) { return a.share > b.share; });
  return map;
}

ColoredMap color_values(const npu::vision::Map<float>& values, bool are_anomalies) {
  ColoredMap map{.columns = values.width, .rows = values.height, .is_graded = true};
  auto range = range_of(values.values);
  if (!range) return map;
  if (are_anomalies) {
    range = ValueRange{kLeastAnomaly, 1.0F};
  }
  for (std::size_t i = 0; i < kMostColors; ++i) {
    map.colors.push_back(heat(static_cast<double>(i) / (kMostColors - 1)));
  }
  const double from = range->least, length = double{range->most} - from;
  map.numbers.resize(values.values.size());
  std::transform(values.values.begin(), values.values.end(), map.numbers.begin(), [&](float value) {
    if (!std::isfinite(value) || (are_anomalies && value < kLeastAnomaly)) return guint8{0};
    const double share = length > 0 ? std::clamp((value - from) / length, 0.0, 1.0) : 0;
    return static_cast<guint8>(1 + std::lround(share * (kMostColors - 1)));
  });
  // Normal values count as lying below the least anomaly, so an anomaly map has no gaps. In other
  // maps a value that is not finite is a gap.
  map.has_gaps =
      !are_anomalies && std::find(map.numbers.begin(), map.numbers.end(), 0) != map.numbers.end();
  return map;
}

void scale(const ColoredMap& map, const MapSpan& span, int width, int height, guint8* to) {
  const Axis across = axis_of(span.left, span.width, map.columns, width);
  const Axis down = axis_of(span.top, span.height, map.rows, height);
  std::vector<guint> between(map.is_graded ? map.columns : 0);
  for (const Stripe& stripe : down.stripes) {
    const guint8* upper = map.numbers.data() + std::size_t{stripe.first} * map.columns;
    const guint8* lower = map.numbers.data() + std::size_t{stripe.second} * map.columns;
    for (int y = stripe.begin; y < stripe.end; ++y, to += width) {
      const guint way = down.ways[static_cast<std::size_t>(y)];
      if (map.is_graded) {
        fill_between(upper, lower, way, map.has_gaps, &between);
        draw_graded_row(across, between, map.has_gaps, to);
      } else {
        draw_row(across, upper, lower, way, to);
      }
    }
  }
}

}  // namespace gstnpu
