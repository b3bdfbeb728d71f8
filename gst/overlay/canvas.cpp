#include "canvas.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

guint8 rounded(double value) {
  return static_cast<guint8>(std::clamp(std::lround(value), 0L, 255L));
}

/// Luma in 0..1 and chroma in -0.5..0.5.
std::array<double, 3> luma_and_chroma(Color color, const GstVideoInfo& info) {
  double kr = 0.2126, kb = 0.0722;  // BT.709, unless the caps say otherwise
  gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb);
  const double red = color.red / 255.0, green = color.green / 255.0, blue = color.blue / 255.0;
  const double luma = kr * red + (1 - kr - kb) * green + kb * blue;
  return {luma, (blue - luma) / (2 * (1 - kb)), (red - luma) / (2 * (1 - kr))};
}

guint8 mixed(guint8 at, guint8 value, guint8 weight) {
  return static_cast<guint8>(
      divided_by_255(static_cast<guint16>(at * (255 - weight) + value * weight)));
}

/// Adds a row of coverage to the sums of cells of 1 << kShift pixels. The row starts `offset`
/// pixels into its first cell.
template <int kShift>
void add_coverage(const guint8* __restrict coverage, int offset, int pixels,
                  guint16* __restrict sums) {
  constexpr int kCell = 1 << kShift;
  for (; offset % kCell != 0 && pixels > 0; ++offset, --pixels) *sums += *coverage++;
  sums += offset >> kShift;
  const int whole = pixels >> kShift;
  for (int cell = 0; cell < whole; ++cell) {
    for (int i = 0; i < kCell; ++i) {
      sums[cell] = static_cast<guint16>(sums[cell] + coverage[cell * kCell + i]);
    }
  }
  for (int i = whole << kShift; i < pixels; ++i) sums[whole] += coverage[i];
}

void add_coverage(guint shift, const guint8* coverage, int offset, int pixels, guint16* sums) {
  switch (shift) {
    case 0:
      return add_coverage<0>(coverage, offset, pixels, sums);
    case 1:
      return add_coverage<1>(coverage, offset, pixels, sums);
    default:
      return add_coverage<2>(coverage, offset, pixels, sums);
  }
}

guint8 weight_of(guint sum, guint pixels, guint8 opacity) {
  return static_cast<guint8>(divided_by_255(static_cast<guint16>(sum / pixels * opacity)));
}

/// Does what weight_of() does, for many sums whose number of pixels is a power of two.
void weigh(const guint16* __restrict sums, std::size_t count, int shift, guint8 opacity,
           guint8* __restrict weights) {
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] =
        static_cast<guint8>(divided_by_255(static_cast<guint16>((sums[i] >> shift) * opacity)));
  }
}

void mix(guint8* __restrict row, guint8 value, const guint8* __restrict weights,
         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) row[i] = mixed(row[i], value, weights[i]);
}

/// Mixes two components whose values alternate in memory.
void mix_pairs(guint8* __restrict row, guint8 first, guint8 second,
               const guint8* __restrict weights, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    row[2 * i] = mixed(row[2 * i], first, weights[i]);
    row[2 * i + 1] = mixed(row[2 * i + 1], second, weights[i]);
  }
}

void mix_every(std::size_t step, guint8* row, guint8 value, const guint8* weights,
               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) row[i * step] = mixed(row[i * step], value, weights[i]);
}

/// Address of a row's value, counted from 0.
guint8* value_at(const GstVideoFrame& frame, guint component, int row, int value) {
  return static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component)) +
         static_cast<std::ptrdiff_t>(row) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component) +
         std::ptrdiff_t{value} * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component);
}

constexpr std::size_t kStep = 16;  // number of values of a row compared at once

bool are_same(const guint8* values, guint64 wanted) {
  std::array<guint64, kStep / sizeof(guint64)> words{};
  std::memcpy(words.data(), values, kStep);
  return std::all_of(words.begin(), words.end(), [=](guint64 word) { return word == wanted; });
}

/// Length of the run of equal values at the start, in whole steps.
std::size_t length_of_run(std::span<const guint8> values) {
  const guint64 wanted = values[0] * G_GUINT64_CONSTANT(0x0101010101010101);
  std::size_t length = 0;
  while (length + kStep <= values.size() && are_same(values.data() + length, wanted)) {
    length += kStep;
  }
  return length;
}

}  // namespace

Components components_of(Color color, const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_RGB(&info)) return {color.red, color.green, color.blue, 255};
  const auto values = luma_and_chroma(color, info);
  std::array<gint, GST_VIDEO_MAX_COMPONENTS> offset{}, scale{};
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset.data(), scale.data());
  Components components{0, 0, 0, 255};
  for (std::size_t i = 0; i < values.size(); ++i) {
    components[i] = rounded(offset[i] + values[i] * scale[i]);
  }
  return components;
}

bool Canvas::draws_on(const GstVideoFormatInfo& format) {
  // GStreamer's description swaps this format's U and V.
  if (GST_VIDEO_FORMAT_INFO_FORMAT(&format) == GST_VIDEO_FORMAT_VYUY) return false;
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(&format) || GST_VIDEO_FORMAT_INFO_IS_TILED(&format) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE(&format)) {
    return false;
  }
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(&format); ++i) {
    if (GST_VIDEO_FORMAT_INFO_DEPTH(&format, i) != 8 || format.shift[i] != 0) return false;
    // IYU1's values are not evenly spaced.
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE(&format, i) == 0) return false;
  }
  return GST_VIDEO_FORMAT_INFO_N_COMPONENTS(&format) > 0;
}

Canvas::Canvas(const GstVideoInfo& info) : info_(info) {
  if (!draws_on(*info.finfo)) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     std::string("nothing can be drawn on frames of the format ") +
                         gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) +
                         ": put videoconvert in front");
  }
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info.finfo); ++i) {
    const guint shift_x = GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, i);
    const guint shift_y = GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, i);
    const guint step = GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, i);
    const auto like = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
      return group.shift_x == shift_x && group.shift_y == shift_y && group.step == step;
    });
    if (like == groups_.end()) {
      groups_.push_back({shift_x, shift_y, step, {i}});
    } else {
      like->components.push_back(i);
    }
  }
}

void Canvas::blend(const Sprite& sprite, GstVideoFrame* frame) {
  const Area area{std::max(sprite.x, 0), std::max(sprite.y, 0),
                  std::min(sprite.x + sprite.width, GST_VIDEO_FRAME_WIDTH(frame)),
                  std::min(sprite.y + sprite.height, GST_VIDEO_FRAME_HEIGHT(frame))};
  if (area.left >= area.right || area.top >= area.bottom) return;
  if (!sprite.palette.empty()) {
    prepare_palette(sprite);
    for (const Group& group : groups_) blend_palette(group, sprite, area, frame);
    return;
  }
  color_ = components_of(sprite.color, info_);
  for (const Group& group : groups_) blend_group(group, sprite, area, frame);
}

/// Computes weights_ for a row of a group, from the cell at the area's left edge on. A cell is the
/// pixels that one value stands for. Its pixels outside the sprite count as uncovered; pixels
/// outside the frame do not count. A frame may be larger than its caps say, by its GstVideoMeta.
void Canvas::weigh_row(const Sprite& sprite, const Area& area, int row, const Group& group,
                       const GstVideoFrame& frame) {
  const guint shift_x = group.shift_x, shift_y = group.shift_y;
  const int first = area.left >> shift_x, offset = area.left - (first << shift_x);
  const int cells = ((area.right - 1) >> shift_x) - first + 1;
  sums_.assign(static_cast<std::size_t>(cells), 0);
  weights_.resize(sums_.size());
  const int top = std::max(area.top, row << shift_y);
  const int bottom = std::min(area.bottom, (row + 1) << shift_y);
  for (int y = top; y < bottom; ++y) {
    const guint8* coverage = covered_.data();
    if (sprite.coverage) {
      coverage = sprite.coverage + static_cast<std::size_t>(y - sprite.y) * sprite.coverage_stride +
                 (area.left - sprite.x);
    }
    add_coverage(shift_x, coverage, offset, area.right - area.left, sums_.data());
  }
  const int frame_rows =
      std::min((row + 1) << shift_y, GST_VIDEO_FRAME_HEIGHT(&frame)) - (row << shift_y);
  const guint pixels = static_cast<guint>(frame_rows) << shift_x;
  if (std::has_single_bit(pixels)) {
    weigh(sums_.data(), sums_.size(), std::countr_zero(pixels), sprite.opacity, weights_.data());
  } else {
    std::transform(sums_.begin(), sums_.end(), weights_.begin(),
                   [&](guint sum) { return weight_of(sum, pixels, sprite.opacity); });
  }
  const int frame_columns = GST_VIDEO_FRAME_WIDTH(&frame) - ((first + cells - 1) << shift_x);
  if (frame_columns < 1 << shift_x) {
    const auto of_the_last = static_cast<guint>(frame_rows * frame_columns);
    weights_.back() = weight_of(sums_.back(), of_the_last, sprite.opacity);
  }
}

void Canvas::mix_values(const Group& group, int row, int first_value, const Components& color,
                        std::span<const guint8> weights, GstVideoFrame* frame) const {
  const auto place = [&](guint component) { return value_at(*frame, component, row, first_value); };
  const auto& components = group.components;
  const std::size_t count = weights.size();
  if (components.size() == 2 && group.step == 2) {
    auto [first, second] = std::pair(components[0], components[1]);
    if (place(second) < place(first)) {
      std::swap(first, second);
    }
    if (place(second) == place(first) + 1) {
      return mix_pairs(place(first), color[first], color[second], weights.data(), count);
    }
  }
  for (const guint component : components) {
    if (group.step == 1) {
      mix(place(component), color[component], weights.data(), count);
    } else {
      mix_every(group.step, place(component), color[component], weights.data(), count);
    }
  }
}

void Canvas::blend_group(const Group& group, const Sprite& sprite, const Area& area,
                         GstVideoFrame* frame) {
  if (!sprite.coverage) {
    covered_.assign(static_cast<std::size_t>(area.right - area.left), 255);
  }
  bool was_whole = false;
  const guint shift_y = group.shift_y;
  for (int row = area.top >> shift_y; row <= (area.bottom - 1) >> shift_y; ++row) {
    // All pixels of the row are in the sprite: without coverage, such rows have the same weights.
    const bool is_whole =
        row << shift_y >= area.top && (row + 1) << shift_y <= area.bottom && !sprite.coverage;
    if (!is_whole || !was_whole) {
      weigh_row(sprite, area, row, group, *frame);
    }
    was_whole = is_whole;
    mix_values(group, row, area.left >> group.shift_x, color_, weights_, frame);
  }
}

/// Color number of each value in a row, from the area's left edge on. A value that stands for
/// several pixels takes the first one's color: in a translucent map half a pixel does not show.
std::span<const guint8> Canvas::numbers_of_row(const Sprite& sprite, const Area& area, int row,
                                               const Group& group) {
  const int y = std::max(area.top, row << group.shift_y);
  const guint8* pixels =
      sprite.coverage + static_cast<std::size_t>(y - sprite.y) * sprite.coverage_stride;
  const int first = area.left >> group.shift_x, last = (area.right - 1) >> group.shift_x;
  if (group.shift_x == 0) {
    return {pixels + (area.left - sprite.x), static_cast<std::size_t>(area.right - area.left)};
  }
  numbers_.resize(static_cast<std::size_t>(last - first) + 1);
  numbers_[0] = pixels[area.left - sprite.x];
  for (int value = first + 1; value <= last; ++value) {
    numbers_[static_cast<std::size_t>(value - first)] = pixels[(value << group.shift_x) - sprite.x];
  }
  return numbers_;
}

void Canvas::prepare_palette(const Sprite& sprite) {
  palette_.assign(1, Components{});
  for (const Color& color : sprite.palette) palette_.push_back(components_of(color, info_));
  for (std::size_t component = 0; component < shares_.size(); ++component) {
    shares_[component] = {};
    for (std::size_t number = 1; number < palette_.size(); ++number) {
      shares_[component][number] =
          static_cast<guint16>(palette_[number][component] * sprite.opacity);
    }
  }
  kept_.fill(255);
  std::fill_n(kept_.begin() + 1, sprite.palette.size(), static_cast<guint8>(255 - sprite.opacity));
}

/// Mixes palette colors into a row's values, from value `first` on.
void Canvas::mix_numbers(const Group& group, int row, int first, std::span<const guint8> numbers,
                         GstVideoFrame* frame) const {
  for (const guint component : group.components) {
    guint8* at = value_at(*frame, component, row, first);
    const guint16* shares = shares_[component].data();
    const guint8* kept = kept_.data();
    for (const guint8 number : numbers) {
      *at = static_cast<guint8>(
          divided_by_255(static_cast<guint16>(*at * kept[number] + shares[number])));
      at += group.step;
    }
  }
}

/// Mixes runs of one color at once, which is much faster.
void Canvas::blend_palette(const Group& group, const Sprite& sprite, const Area& area,
                           GstVideoFrame* frame) {
  weights_.assign(static_cast<std::size_t>(area.right - area.left), sprite.opacity);
  for (int row = area.top >> group.shift_y; row <= (area.bottom - 1) >> group.shift_y; ++row) {
    const auto numbers = numbers_of_row(sprite, area, row, group);
    for (std::size_t begin = 0; begin < numbers.size();) {
      const auto rest = numbers.subspan(begin);
      const int first = (area.left >> group.shift_x) + static_cast<int>(begin);
      const std::size_t run = length_of_run(rest);
      const std::size_t count = run > 0 ? run : std::min(kStep, rest.size());
      if (run == 0) {
        mix_numbers(group, row, first, rest.first(count), frame);
      } else if (rest[0] != 0) {
        mix_values(group, row, first, palette_[rest[0]], std::span(weights_).first(count), frame);
      }
      begin += count;
    }
  }
}

}  // namespace gstnpu
