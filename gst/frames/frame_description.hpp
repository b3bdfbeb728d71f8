// Describes a buffer's frame in npucore's terms, from caps and metadata alone. Touches no pixel.
#pragma once

#include <gst/video/video.h>

#include <optional>
#include <span>
#include <vector>

#include <npucore/frame.hpp>

#include "common/inline_vector.hpp"

namespace gstnpu {

/// One value for each plane of a frame.
template <class T>
using OfPlanes = InlineVector<T, GST_VIDEO_MAX_PLANES>;

/// Position of a plane's visible rows in a buffer.
struct PlaneSpan {
  gsize offset = 0;           ///< bytes from the buffer's start to the plane's first visible row
  gint stride_bytes = 0;      ///< may be negative: such a frame must be copied
  gsize rows = 0;             ///< visible, plus the odd row before a crop that starts at it
  gsize row_bytes = 0;        ///< bytes of a row's visible pixels
  gsize crop_left_bytes = 0;  ///< from `offset` to the first visible pixel

  /// Bytes from `offset` to the end of the last visible pixel.
  gsize span_bytes() const {
    return static_cast<gsize>(stride_bytes) * (rows - 1) + crop_left_bytes + row_bytes;
  }
};

struct FrameDescription {
  npu::FrameLayout layout;  ///< its planes have the rows of `planes`; crop_top is 0 or 1
  OfPlanes<PlaneSpan> planes;
  /// False where no graph can read the planes as they lie (a stride that is negative or too short).
  bool is_readable_in_place = true;
};

/// npu::plane_shapes(), computed once for each format.
std::span<const npu::PlaneShape> shapes_of(npu::PixelFormat format);

/// Whether a graph that was compiled for `graph` without padding, and for any strides, reads frames
/// like `frame` in place. Colours do not matter: they are the graph's.
bool shows_the_same(const npu::FrameLayout& graph, const npu::FrameLayout& frame);

/// The formats that a graph can read, the preferred one first.
std::vector<GstVideoFormat> readable_formats();
std::optional<npu::PixelFormat> to_pixel_format(GstVideoFormat format);
GstVideoFormat to_video_format(npu::PixelFormat format);

/// Matrix and range of a stream. GStreamer's default for the size replaces what the caps leave
/// open.
npu::ColorMatrix color_matrix_of(const GstVideoInfo& info);
npu::ColorRange color_range_of(const GstVideoInfo& info);

/// The layout of `frame` without padding. A crop keeps only the pixels of a sample that it starts
/// inside.
npu::FrameLayout without_padding(const npu::FrameLayout& frame);

/// GStreamer's default layout for frames like `frame`; copies and buffers of our own pool have it.
npu::FrameLayout default_layout(const npu::FrameLayout& frame);

/// Layout that a stream's frames have when only the caps are known.
npu::FrameLayout layout_of_stream(const GstVideoInfo& info);

/// Describes the frame in `buffer` by its GstVideoMeta and GstVideoCropMeta where it has them, else
/// by `info`. Throws npu::Error when the metadata contradict the caps.
FrameDescription describe_frame(const GstVideoInfo& info, GstBuffer* buffer);
/// Overwrites another frame's description, to reuse its memory.
void describe_frame(const GstVideoInfo& info, GstBuffer* buffer, FrameDescription& frame);

}  // namespace gstnpu
