// What a buffer holds, in npucore's words. Pure functions of caps and metadata: no pixel is
// touched.
#pragma once

#include <gst/video/video.h>

#include <optional>
#include <span>
#include <vector>

#include <npucore/frame.hpp>

#include "common/inline_vector.hpp"

namespace gstnpu {

/// What there is for each plane of a frame.
template <class T>
using OfPlanes = InlineVector<T, GST_VIDEO_MAX_PLANES>;

/// Where a plane's visible rows lie in a buffer.
struct PlaneSpan {
  gsize offset = 0;           ///< bytes from the buffer's start to the plane's first visible row
  gint stride_bytes = 0;      ///< may be negative: such a frame must be copied
  gsize rows = 0;             ///< visible, and an odd one before them where a crop starts at it
  gsize row_bytes = 0;        ///< visible
  gsize crop_left_bytes = 0;  ///< from `offset` to the first visible pixel

  /// Bytes from `offset` to the end of the last visible pixel.
  gsize span_bytes() const {
    return static_cast<gsize>(stride_bytes) * (rows - 1) + crop_left_bytes + row_bytes;
  }
};

struct FrameDescription {
  npu::FrameLayout layout;  ///< `rows` of its planes are those of `planes`, crop_top is below 2
  OfPlanes<PlaneSpan> planes;
  /// False where no graph can read the planes as they lie (a stride that is negative or too short).
  bool is_readable_in_place = true;
};

/// npu::plane_shapes(), asked once for each format.
std::span<const npu::PlaneShape> shapes_of(npu::PixelFormat format);

/// Whether a graph that was compiled for `graph` without padding, and for any strides, reads frames
/// like `frame` in place. Colours are no matter: the graph decides them.
bool shows_the_same(const npu::FrameLayout& graph, const npu::FrameLayout& frame);

/// The formats that a graph can read, the preferred one first.
std::vector<GstVideoFormat> readable_formats();
std::optional<npu::PixelFormat> to_pixel_format(GstVideoFormat format);
GstVideoFormat to_video_format(npu::PixelFormat format);

/// Matrix and range of a stream. What the caps leave open follows GStreamer's rule for the size.
npu::ColorMatrix color_matrix_of(const GstVideoInfo& info);
npu::ColorRange color_range_of(const GstVideoInfo& info);

/// Frames like `frame` without a byte around them; of a crop only the part of a sample is left that
/// cannot be left out.
npu::FrameLayout without_padding(const npu::FrameLayout& frame);

/// The layout that GStreamer gives frames like `frame` where nobody asks for another one; copies
/// and buffers of our own pool have it.
npu::FrameLayout default_layout(const npu::FrameLayout& frame);

/// What a stream's frames are where nothing but the caps is known.
npu::FrameLayout layout_of_stream(const GstVideoInfo& info);

/// The frame in `buffer`, from GstVideoMeta and GstVideoCropMeta where it has them, else from
/// `info`. Throws npu::Error when the metadata contradict the caps.
FrameDescription describe_frame(const GstVideoInfo& info, GstBuffer* buffer);
/// The same in place of another frame, whose memory is used again.
void describe_frame(const GstVideoInfo& info, GstBuffer* buffer, FrameDescription& frame);

}  // namespace gstnpu
