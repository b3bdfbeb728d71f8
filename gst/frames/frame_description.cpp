#include "frame_description.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

/// The preferred one first, also of those that are the same to a model, which sees no alpha.
constexpr std::pair<npu::PixelFormat, GstVideoFormat> kFormats[] = {
    {npu::PixelFormat::kNV12, GST_VIDEO_FORMAT_NV12},
    {npu::PixelFormat::kI420, GST_VIDEO_FORMAT_I420},
    {npu::PixelFormat::kNV21, GST_VIDEO_FORMAT_NV21},
    {npu::PixelFormat::kYV12, GST_VIDEO_FORMAT_YV12},
    {npu::PixelFormat::kNV16, GST_VIDEO_FORMAT_NV16},
    {npu::PixelFormat::kYUY2, GST_VIDEO_FORMAT_YUY2},
    {npu::PixelFormat::kUYVY, GST_VIDEO_FORMAT_UYVY},
    {npu::PixelFormat::kP010, GST_VIDEO_FORMAT_P010_10LE},
    {npu::PixelFormat::kRGB, GST_VIDEO_FORMAT_RGB},
    {npu::PixelFormat::kBGR, GST_VIDEO_FORMAT_BGR},
    {npu::PixelFormat::kRGBx, GST_VIDEO_FORMAT_RGBx},
    {npu::PixelFormat::kBGRx, GST_VIDEO_FORMAT_BGRx},
    {npu::PixelFormat::kRGBx, GST_VIDEO_FORMAT_RGBA},
    {npu::PixelFormat::kBGRx, GST_VIDEO_FORMAT_BGRA},
    {npu::PixelFormat::kARGB, GST_VIDEO_FORMAT_ARGB},
    {npu::PixelFormat::kABGR, GST_VIDEO_FORMAT_ABGR},
    {npu::PixelFormat::kARGB, GST_VIDEO_FORMAT_xRGB},
    {npu::PixelFormat::kABGR, GST_VIDEO_FORMAT_xBGR},
    {npu::PixelFormat::kGray8, GST_VIDEO_FORMAT_GRAY8},
    {npu::PixelFormat::kGray16, GST_VIDEO_FORMAT_GRAY16_LE},
};

GstVideoColorimetry default_colorimetry(const GstVideoInfo& info) {
  GstVideoInfo fresh;
  gst_video_info_set_format(&fresh, GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_WIDTH(&info),
                            GST_VIDEO_INFO_HEIGHT(&info));
  return fresh.colorimetry;
}

std::optional<npu::ColorMatrix> to_color_matrix(GstVideoColorMatrix matrix) {
  switch (matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT601:
    case GST_VIDEO_COLOR_MATRIX_FCC:  // kr .30, kb .11
      return npu::ColorMatrix::kBT601;
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:  // kr .212, kb .087
      return npu::ColorMatrix::kBT709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return npu::ColorMatrix::kBT2020;
    default:
      return std::nullopt;
  }
}

struct Crop {
  guint left = 0, top = 0, width = 0, height = 0;
};

Crop crop_of(const GstVideoInfo& info, const GstVideoMeta* video, GstBuffer* buffer) {
  Crop crop{0, 0, static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
            static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info))};
  const GstVideoCropMeta* meta = gst_buffer_get_video_crop_meta(buffer);
  if (!meta) return crop;
  const guint full_width = video ? video->width : crop.width;
  const guint full_height = video ? video->height : crop.height;
  if (meta->width == 0 || meta->height == 0 || meta->x >= full_width || meta->y >= full_height) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "the buffer's crop " + std::to_string(meta->width) + "x" +
                         std::to_string(meta->height) + "+" + std::to_string(meta->x) + "+" +
                         std::to_string(meta->y) + " is not inside its " +
                         std::to_string(full_width) + "x" + std::to_string(full_height) +
                         " frame; remove the element that set it");
  }
  crop.width = MIN(meta->width, full_width - meta->x);
  crop.height = MIN(meta->height, full_height - meta->y);
  crop.left = meta->x;
  crop.top = meta->y;
  return crop;
}

/// The offset skips the crop's rows, so that one graph serves every vertical crop. It cannot skip
/// the `odd_rows` of a crop that starts inside a sample.
PlaneSpan span_of_plane(const GstVideoInfo& info, const GstVideoMeta* video, const Crop& crop,
                        guint odd_rows, const npu::PlaneShape& shape, guint plane) {
  PlaneSpan span;
  span.stride_bytes = video ? video->stride[plane] : GST_VIDEO_INFO_PLANE_STRIDE(&info, plane);
  span.rows = shape.rows(0, odd_rows + crop.height);
  span.row_bytes = gsize{shape.columns(crop.left, crop.width)} * shape.sample_bytes;
  span.crop_left_bytes = gsize{crop.left / shape.pixels_x} * shape.sample_bytes;
  span.offset =
      (video ? video->offset[plane] : GST_VIDEO_INFO_PLANE_OFFSET(&info, plane)) +
      gsize{(crop.top - odd_rows) / shape.pixels_y} * static_cast<gsize>(span.stride_bytes);
  return span;
}

}  // namespace

std::span<const npu::PlaneShape> shapes_of(npu::PixelFormat format) {
  static const auto known = [] {
    std::map<npu::PixelFormat, std::span<const npu::PlaneShape>> shapes;
    for (const auto& [npu_format, gst_format] : kFormats) {
      shapes[npu_format] = npu::plane_shapes(npu_format);
    }
    return shapes;
  }();
  return known.at(format);
}

bool shows_the_same(const npu::FrameLayout& graph, const npu::FrameLayout& frame) {
  const npu::PlaneShape shape = shapes_of(frame.format).back();
  return graph.format == frame.format && graph.width == frame.width &&
         graph.height == frame.height && graph.crop_left == frame.crop_left % shape.pixels_x &&
         graph.crop_top == frame.crop_top % shape.pixels_y;
}

std::vector<GstVideoFormat> readable_formats() {
  std::vector<GstVideoFormat> formats;
  for (const auto& [npu_format, gst_format] : kFormats) formats.push_back(gst_format);
  return formats;
}

std::optional<npu::PixelFormat> to_pixel_format(GstVideoFormat format) {
  for (const auto& [npu_format, gst_format] : kFormats) {
    if (gst_format == format) return npu_format;
  }
  return std::nullopt;
}

GstVideoFormat to_video_format(npu::PixelFormat format) {
  for (const auto& [npu_format, gst_format] : kFormats) {
    if (npu_format == format) return gst_format;
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

npu::ColorMatrix color_matrix_of(const GstVideoInfo& info) {
  if (!GST_VIDEO_INFO_IS_YUV(&info)) return npu::ColorMatrix::kBT601;
  if (const auto matrix = to_color_matrix(info.colorimetry.matrix)) return *matrix;
  return to_color_matrix(default_colorimetry(info).matrix).value_or(npu::ColorMatrix::kBT601);
}

npu::ColorRange color_range_of(const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_RGB(&info)) return npu::ColorRange::kLimited;
  GstVideoColorRange range = info.colorimetry.range;
  if (range == GST_VIDEO_COLOR_RANGE_UNKNOWN) {
    range = default_colorimetry(info).range;
  }
  return range == GST_VIDEO_COLOR_RANGE_0_255 ? npu::ColorRange::kFull : npu::ColorRange::kLimited;
}

npu::FrameLayout without_padding(const npu::FrameLayout& frame) {
  const npu::PlaneShape shape = shapes_of(frame.format).back();
  npu::FrameLayout layout = frame;
  layout.crop_left %= shape.pixels_x;
  layout.crop_top %= shape.pixels_y;
  layout.planes = npu::FrameLayout::tight(frame.format, layout.crop_left + frame.width,
                                          layout.crop_top + frame.height)
                      .planes;
  return layout;
}

npu::FrameLayout default_layout(const npu::FrameLayout& frame) {
  npu::FrameLayout layout = without_padding(frame);
  GstVideoInfo info;
  gst_video_info_set_format(&info, to_video_format(frame.format), layout.crop_left + frame.width,
                            layout.crop_top + frame.height);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    layout.planes[p] = {static_cast<std::uint32_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, p)),
                        layout.planes[p].rows};
  }
  return layout;
}

npu::FrameLayout layout_of_stream(const GstVideoInfo& info) {
  auto layout = npu::FrameLayout::tight(to_pixel_format(GST_VIDEO_INFO_FORMAT(&info)).value(),
                                        static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&info)),
                                        static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&info)));
  layout.matrix = color_matrix_of(info);
  layout.range = color_range_of(info);
  return default_layout(layout);
}

FrameDescription describe_frame(const GstVideoInfo& info, GstBuffer* buffer) {
  FrameDescription frame;
  describe_frame(info, buffer, frame);
  return frame;
}

void describe_frame(const GstVideoInfo& info, GstBuffer* buffer, FrameDescription& frame) {
  const GstVideoMeta* video = gst_buffer_get_video_meta(buffer);
  if (video && video->n_planes != GST_VIDEO_INFO_N_PLANES(&info)) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "a buffer's video metadata has " + std::to_string(video->n_planes) +
                         " planes, its caps have " +
                         std::to_string(GST_VIDEO_INFO_N_PLANES(&info)) +
                         "; the element in front contradicts itself");
  }
  frame.layout.planes.clear();
  frame.planes.clear();
  frame.is_readable_in_place = true;
  frame.layout.format = to_pixel_format(GST_VIDEO_INFO_FORMAT(&info)).value();
  const auto shapes = shapes_of(frame.layout.format);
  const Crop crop = crop_of(info, video, buffer);
  const guint odd_rows = crop.top % shapes.back().pixels_y;
  frame.layout.width = crop.width;
  frame.layout.height = crop.height;
  frame.layout.crop_left = crop.left;
  frame.layout.crop_top = odd_rows;
  frame.layout.matrix = color_matrix_of(info);
  frame.layout.range = color_range_of(info);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const PlaneSpan span = span_of_plane(info, video, crop, odd_rows, shapes[p], p);
    frame.is_readable_in_place &=
        span.stride_bytes > 0 &&
        static_cast<gsize>(span.stride_bytes) >= span.crop_left_bytes + span.row_bytes;
    frame.layout.planes.push_back({static_cast<std::uint32_t>(MAX(span.stride_bytes, 0)),
                                   static_cast<std::uint32_t>(span.rows)});
    frame.planes.push_back(span);
  }
}

}  // namespace gstnpu
