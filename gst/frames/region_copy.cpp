#include "region_copy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include <npucore/error.hpp>

#include "area_average.hpp"

namespace gstnpu {
namespace {

struct ConverterFree {
  void operator()(GstVideoConverter* converter) const { gst_video_converter_free(converter); }
};
using ConverterRef = std::unique_ptr<GstVideoConverter, ConverterFree>;

guint round_down(guint value, guint step) {
  return value - value % step;
}

guint round_up(guint value, guint step) {
  return round_down(value + step - 1, step);
}

/// Shape of the plane with the fewest samples: reading and writing must start at a whole sample of
/// it.
npu::PlaneShape coarsest_shape(npu::PixelFormat format) {
  return shapes_of(format).back();
}

/// Begin and length of the pixels to read, extended to whole samples of `step` pixels, as the
/// converter needs. A crop that starts inside a sample loses the rest of that sample.
std::pair<guint, guint> whole_samples(guint begin, guint length, guint skipped, guint step,
                                      guint limit) {
  const guint left = round_down(skipped + begin, step);
  const guint from = left >= skipped ? left - skipped : std::min(left + step - skipped, limit - 1);
  const guint to = std::min(round_up(skipped + begin + length, step) - skipped, limit);
  return {from, std::max(to, from + 1) - from};
}

/// Length after scaling, rounded down to whole samples of `step` pixels, at least one.
guint fitted(guint length, double scale, guint step, guint limit) {
  const auto wanted = static_cast<guint>(std::lround(length * scale));
  return std::clamp(round_down(wanted, step), std::min(step, limit), limit);
}

GstVideoColorMatrix to_gst(npu::ColorMatrix matrix) {
  switch (matrix) {
    case npu::ColorMatrix::kBT601:
      return GST_VIDEO_COLOR_MATRIX_BT601;
    case npu::ColorMatrix::kBT709:
      return GST_VIDEO_COLOR_MATRIX_BT709;
    case npu::ColorMatrix::kBT2020:
      return GST_VIDEO_COLOR_MATRIX_BT2020;
  }
  return GST_VIDEO_COLOR_MATRIX_UNKNOWN;
}

/// GStreamer's description of the frame as graphs see it: chroma is centred whatever the caps say,
/// and only matrix and range count for colours.
GstVideoInfo info_of(GstVideoFormat format, const npu::FrameLayout& layout, guint width,
                     guint height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, width, height);
  info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  if (GST_VIDEO_INFO_IS_RGB(&info)) return info;
  info.colorimetry.matrix = to_gst(layout.matrix);
  info.colorimetry.range = layout.range == npu::ColorRange::kFull ? GST_VIDEO_COLOR_RANGE_0_255
                                                                  : GST_VIDEO_COLOR_RANGE_16_235;
  return info;
}

/// Colour around the filled part: the grey of the model's letterbox.
guint border_argb(float pad_value) {
  const auto grey = static_cast<guint>(std::lround(std::clamp(pad_value, 0.0F, 255.0F)));
  return 0xFF000000U | grey << 16 | grey << 8 | grey;
}

struct Target {
  GstVideoFrame frame = {};
  DeviceMemoryRef memory;
};

Target make_target(const npu::FrameLayout& layout, TensorRecycler& recycler) {
  Target target;
  target.frame.info = info_of(to_video_format(layout.format), layout,
                              layout.crop_left + layout.width, layout.crop_top + layout.height);
  std::size_t total = 0;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) total += layout.plane_size_bytes(p);
  target.memory = recycler.take(total);
  std::byte* plane = target.memory->data;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    target.frame.data[p] = plane;
    target.frame.info.stride[p] = static_cast<gint>(layout.planes[p].stride_bytes);
    plane += layout.plane_size_bytes(p);
  }
  return target;
}

ConverterRef make_converter(const GstVideoInfo& from, const GstVideoInfo& to, const PixelRect& read,
                            const PixelRect& filled, float pad_value) {
  const auto number = [](guint value) { return static_cast<gint>(value); };
  GstStructure* options = gst_structure_new(
      "options", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, number(read.x),
      GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, number(read.y), GST_VIDEO_CONVERTER_OPT_SRC_WIDTH,
      G_TYPE_INT, number(read.width), GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT,
      number(read.height), GST_VIDEO_CONVERTER_OPT_DEST_X, G_TYPE_INT, number(filled.x),
      GST_VIDEO_CONVERTER_OPT_DEST_Y, G_TYPE_INT, number(filled.y),
      GST_VIDEO_CONVERTER_OPT_DEST_WIDTH, G_TYPE_INT, number(filled.width),
      GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, number(filled.height),
      GST_VIDEO_CONVERTER_OPT_BORDER_ARGB, G_TYPE_UINT, border_argb(pad_value),
      GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_VIDEO_RESAMPLER_METHOD,
      GST_VIDEO_RESAMPLER_METHOD_LINEAR, GST_VIDEO_CONVERTER_OPT_DITHER_METHOD,
      GST_TYPE_VIDEO_DITHER_METHOD, GST_VIDEO_DITHER_NONE, nullptr);
  GstVideoInfo in = from, out = to;
  ConverterRef converter(gst_video_converter_new(&in, &out, options));
  if (converter) return converter;
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   std::string("GStreamer has no conversion from ") + GST_VIDEO_INFO_NAME(&from) +
                       " to " + GST_VIDEO_INFO_NAME(&to) +
                       " for the regions of a frame; put videoconvert in front");
}

guint depth_of(const GstVideoInfo& info) {
  return static_cast<guint>(GST_VIDEO_INFO_COMP_DEPTH(&info, 0));
}

/// Size to average down to before GStreamer converts: twice the final size keeps its filters
/// simple. Between 8 bits and more GStreamer converts only as many columns as the smaller picture
/// has, so a side that shrinks while the other grows is averaged to its final size.
std::pair<guint, guint> size_before_converter(const PixelRect& read, const PixelRect& filled,
                                              const GstVideoInfo& from, const GstVideoInfo& to) {
  const bool is_mixed =
      (read.width < filled.width) != (read.height < filled.height) && read.width != filled.width;
  const guint times = is_mixed && (depth_of(from) > 8) != (depth_of(to) > 8) ? 1 : 2;
  return {std::min(read.width, times * filled.width), std::min(read.height, times * filled.height)};
}

/// The largest part in the middle of `whole` with this aspect ratio.
PixelRect middle_of(const PixelRect& whole, double aspect) {
  const auto size = [](double wanted, guint most) {
    return std::clamp(static_cast<guint>(std::lround(std::min<double>(wanted, most))), 1U, most);
  };
  PixelRect part = whole;
  part.width = size(whole.height * aspect, whole.width);
  part.height = size(whole.width / aspect, whole.height);
  part.x += (whole.width - part.width) / 2;
  part.y += (whole.height - part.height) / 2;
  return part;
}

}  // namespace

RegionPlace place_region(const PixelRect& region, const npu::FrameLayout& frame,
                         const RegionTarget& target) {
  RegionPlace place;
  const bool crops = target.resize == npu::ResizeMode::kCrop;
  const PixelRect seen = crops ? middle_of(region, target.aspect) : region;
  const npu::PlaneShape in = coarsest_shape(frame.format);
  std::tie(place.read.x, place.read.width) =
      whole_samples(seen.x, seen.width, frame.crop_left % in.pixels_x, in.pixels_x, frame.width);
  std::tie(place.read.y, place.read.height) =
      whole_samples(seen.y, seen.height, frame.crop_top % in.pixels_y, in.pixels_y, frame.height);
  const npu::FrameLayout& to = target.layout;
  place.filled = {0, 0, to.width, to.height};
  if (target.resize == npu::ResizeMode::kStretch) return place;
  const npu::PlaneShape out = coarsest_shape(to.format);
  if (crops) {
    PixelRect& part = place.filled;
    part = middle_of(part, target.aspect);
    std::tie(part.x, part.width) = whole_samples(part.x, part.width, 0, out.pixels_x, to.width);
    std::tie(part.y, part.height) = whole_samples(part.y, part.height, 0, out.pixels_y, to.height);
    return place;
  }
  const double scale = std::min(static_cast<double>(to.width) / place.read.width,
                                static_cast<double>(to.height) / place.read.height);
  PixelRect& filled = place.filled;
  filled.width = fitted(place.read.width, scale, out.pixels_x, to.width);
  filled.height = fitted(place.read.height, scale, out.pixels_y, to.height);
  if (target.resize == npu::ResizeMode::kFitToWindow) return place;
  filled.x = round_down((to.width - filled.width) / 2, out.pixels_x);
  filled.y = round_down((to.height - filled.height) / 2, out.pixels_y);
  return place;
}

npu::FrameGeometry geometry_of(const RegionPlace& place, const npu::FrameGeometry& graph) {
  const double x = static_cast<double>(place.read.width) / place.filled.width;
  const double y = static_cast<double>(place.read.height) / place.filled.height;
  npu::FrameGeometry geometry = graph;
  geometry.scale_x = graph.scale_x * x;
  geometry.scale_y = graph.scale_y * y;
  geometry.offset_x += place.filled.x / graph.scale_x - place.read.x / geometry.scale_x;
  geometry.offset_y += place.filled.y / graph.scale_y - place.read.y / geometry.scale_y;
  return geometry;
}

RegionReader::RegionReader(const GstVideoInfo& info, const FrameDescription& frame,
                           GstBuffer* buffer) {
  const npu::FrameLayout& layout = frame.layout;
  const npu::PlaneShape coarse = coarsest_shape(layout.format);
  left_ = layout.crop_left % coarse.pixels_x;
  top_ = layout.crop_top % coarse.pixels_y;
  from_.info =
      info_of(GST_VIDEO_INFO_FORMAT(&info), layout, left_ + layout.width, top_ + layout.height);
  const auto shapes = shapes_of(layout.format);
  for (std::size_t p = 0; p < frame.planes.size(); ++p) {
    // Starts at the first whole sample of all planes, which may be before the first visible pixel.
    PlaneSpan span = frame.planes[p];
    const gsize before = gsize{left_ / shapes[p].pixels_x} * shapes[p].sample_bytes;
    span.crop_left_bytes -= before;
    span.row_bytes += before;
    planes_[p].emplace(span, buffer);
    from_.data[p] = const_cast<guint8*>(planes_[p]->first_row());
    from_.info.stride[p] = span.stride_bytes;
  }
}

DeviceMemoryRef RegionReader::copy(const RegionPlace& place, const RegionTarget& target,
                                   TensorRecycler& recycler) const {
  Target to = make_target(target.layout, recycler);
  PixelRect read = place.read, filled = place.filled;
  read.x += left_;
  read.y += top_;
  filled.x += target.layout.crop_left;
  filled.y += target.layout.crop_top;
  const auto [width, height] = size_before_converter(read, filled, from_.info, to.frame.info);
  OwnFrame smaller;
  const GstVideoFrame* from = &from_;
  if (width < read.width || height < read.height) {
    smaller = average_areas(from_, read.x, read.y, read.width, read.height, width, height);
    from = &smaller.frame;
    read = {0, 0, width, height};
  }
  const ConverterRef converter =
      make_converter(from->info, to.frame.info, read, filled, target.pad_value);
  gst_video_converter_frame(converter.get(), from, &to.frame);
  return to.memory;
}

}  // namespace gstnpu
