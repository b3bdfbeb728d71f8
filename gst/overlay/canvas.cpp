#include "canvas.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

guint8 rounded(double value) {
  return static_cast<guint8>(std::clamp(std::lround(value), 0L, 255L));
}

/// Of values in the range 0..1, chroma -0.5..0.5.
std::array<double, 3> luma_and_chroma(Color color, const GstVideoInfo& info) {
  double kr = 0.2126, kb = 0.0722;  // BT.709, unless the caps say otherwise
  gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb);
  const double red = color.red / 255.0, green = color.green / 255.0, blue = color.blue / 255.0;
  const double luma = kr * red + (1 - kr - kb) * green + kb * blue;
  return {luma, (blue - luma) / (2 * (1 - kb)), (red - luma) / (2 * (1 - kr))};
}

/// `step`: bytes from one value to the next; a constant where it is 1, so that the loop is fast.
template <typename Step>
void mix_row(guint8* row, Step step, guint value, const std::vector<guint8>& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const guint weight = weights[i];
    guint8& at = row[i * step];
    at = static_cast<guint8>(divided_by_255(at * (255 - weight) + value * weight));
  }
}

}  // namespace

std::array<guint8, GST_VIDEO_MAX_COMPONENTS> components_of(Color color, const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_RGB(&info)) return {color.red, color.green, color.blue, 255};
  const auto values = luma_and_chroma(color, info);
  std::array<gint, GST_VIDEO_MAX_COMPONENTS> offset{}, scale{};
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset.data(), scale.data());
  std::array<guint8, GST_VIDEO_MAX_COMPONENTS> components{0, 0, 0, 255};
  for (std::size_t i = 0; i < values.size(); ++i) {
    components[i] = rounded(offset[i] + values[i] * scale[i]);
  }
  return components;
}

bool Canvas::draws_on(const GstVideoFormatInfo& format) {
  // GStreamer tells the places of its U and V the wrong way round.
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
  if (draws_on(*info.finfo)) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   std::string("nothing can be drawn on frames of the format ") +
                       gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) +
                       ": put videoconvert in front");
}

void Canvas::blend(const Sprite& sprite, GstVideoFrame* frame) {
  const Area area{std::max(sprite.x, 0), std::max(sprite.y, 0),
                  std::min(sprite.x + sprite.width, GST_VIDEO_FRAME_WIDTH(frame)),
                  std::min(sprite.y + sprite.height, GST_VIDEO_FRAME_HEIGHT(frame))};
  if (area.left >= area.right || area.top >= area.bottom) return;
  const auto values = components_of(sprite.color, info_);
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS(frame); ++i) {
    blend_component(i, sprite, area, values[i], frame);
  }
}

/// Fills weights_ for a row of a component, from the cell of the area's left edge on. A cell is
/// what one value stands for: some pixels, of which those outside the sprite count as uncovered,
/// and those outside the frame not at all. The frame may be larger than its caps say: by its
/// GstVideoMeta.
void Canvas::weigh_row(const Sprite& sprite, const Area& area, int row, guint shift_x,
                       guint shift_y, const GstVideoFrame& frame) {
  const int first = area.left >> shift_x;
  const int cells = ((area.right - 1) >> shift_x) - first + 1;
  sums_.assign(static_cast<std::size_t>(cells), 0);
  const int top = std::max(area.top, row << shift_y);
  const int bottom = std::min(area.bottom, (row + 1) << shift_y);
  for (int y = top; y < bottom; ++y) {
    const guint8* coverage =
        sprite.coverage
            ? sprite.coverage + static_cast<std::size_t>(y - sprite.y) * sprite.coverage_stride
            : nullptr;
    for (int x = area.left; x < area.right; ++x) {
      sums_[static_cast<std::size_t>((x >> shift_x) - first)] +=
          coverage ? coverage[x - sprite.x] : 255U;
    }
  }
  const int frame_rows =
      std::min((row + 1) << shift_y, GST_VIDEO_FRAME_HEIGHT(&frame)) - (row << shift_y);
  const guint pixels = static_cast<guint>(frame_rows) << shift_x;
  weights_.resize(sums_.size());
  std::transform(sums_.begin(), sums_.end(), weights_.begin(), [&](guint sum) {
    return static_cast<guint8>(divided_by_255(sum / pixels * sprite.opacity));
  });
  const int frame_columns = GST_VIDEO_FRAME_WIDTH(&frame) - ((first + cells - 1) << shift_x);
  if (frame_columns < 1 << shift_x) {
    const guint of_the_last = static_cast<guint>(frame_rows * frame_columns);
    weights_.back() =
        static_cast<guint8>(divided_by_255(sums_.back() / of_the_last * sprite.opacity));
  }
}

void Canvas::blend_component(guint component, const Sprite& sprite, const Area& area, guint8 value,
                             GstVideoFrame* frame) {
  const GstVideoFormatInfo* format = info_.finfo;
  const guint shift_x = GST_VIDEO_FORMAT_INFO_W_SUB(format, component);
  const guint shift_y = GST_VIDEO_FORMAT_INFO_H_SUB(format, component);
  const auto step = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(frame, component));
  auto* data = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(frame, component));
  const int stride = GST_VIDEO_FRAME_COMP_STRIDE(frame, component);
  bool was_whole = false;
  for (int row = area.top >> shift_y; row <= (area.bottom - 1) >> shift_y; ++row) {
    // All of its pixels are in the sprite: without a coverage, one such row is like the next.
    const bool is_whole =
        row << shift_y >= area.top && (row + 1) << shift_y <= area.bottom && !sprite.coverage;
    if (!is_whole || !was_whole) {
      weigh_row(sprite, area, row, shift_x, shift_y, *frame);
    }
    was_whole = is_whole;
    guint8* at = data + static_cast<std::ptrdiff_t>(row) * stride +
                 static_cast<std::size_t>(area.left >> shift_x) * step;
    if (step == 1) {
      mix_row(at, std::integral_constant<std::size_t, 1>(), value, weights_);
    } else {
      mix_row(at, step, value, weights_);
    }
  }
}

}  // namespace gstnpu
