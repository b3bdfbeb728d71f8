#include "frame_move.hpp"

#include <algorithm>
#include <cmath>

namespace gstnpu {
namespace {

/// Copy of GStreamer 1.28's GstVideoMetaTransformMatrix, for builds with any version.
struct MatrixTransform {
  const GstVideoInfo* in_info;
  GstVideoRectangle in;
  const GstVideoInfo* out_info;
  GstVideoRectangle out;
  gfloat matrix[3][3];
};

GQuark matrix_quark() {
  static const GQuark quark = g_quark_from_static_string("gst-video-matrix");
  return quark;
}

/// Reads the matrix row of x or y. Elements that mirror count pixels from the last one, so edges
/// shift by one.
void read_row(const gfloat* row, bool is_transposed, int in_x, int in_y, int out, double* scale,
              double* move) {
  *scale = is_transposed ? row[1] : row[0];
  *move = row[2] + out - *scale * (is_transposed ? in_y : in_x);
  if (*scale < 0) {
    *move -= *scale;
  }
}

std::optional<FrameMove> move_of(const MatrixTransform& data) {
  const auto& m = data.matrix;
  if (m[2][0] != 0 || m[2][1] != 0 || m[2][2] != 1) return std::nullopt;
  const bool is_straight = m[0][1] == 0 && m[1][0] == 0 && m[0][0] != 0 && m[1][1] != 0;
  const bool is_transposed = m[0][0] == 0 && m[1][1] == 0 && m[0][1] != 0 && m[1][0] != 0;
  if (!is_straight && !is_transposed) return std::nullopt;
  FrameMove move{.is_transposed = is_transposed};
  read_row(m[0], is_transposed, data.in.x, data.in.y, data.out.x, &move.scale_x, &move.move_x);
  read_row(m[1], !is_transposed, data.in.x, data.in.y, data.out.y, &move.scale_y, &move.move_y);
  return move;
}

/// Whether the picture does not fill the new frame where it keeps its shape. A row or column comes
/// from rounding.
bool has_another_shape(const GstVideoInfo& in, const GstVideoInfo& out) {
  const double across = double{1} * GST_VIDEO_INFO_WIDTH(&in) * GST_VIDEO_INFO_PAR_N(&in) *
                        GST_VIDEO_INFO_PAR_D(&out);
  const double down = double{1} * GST_VIDEO_INFO_HEIGHT(&in) * GST_VIDEO_INFO_PAR_D(&in) *
                      GST_VIDEO_INFO_PAR_N(&out);
  if (!(across > 0 && down > 0)) return false;
  const double rows = GST_VIDEO_INFO_WIDTH(&out) * down / across;
  const double columns = GST_VIDEO_INFO_HEIGHT(&out) * across / down;
  return rows <= GST_VIDEO_INFO_HEIGHT(&out) ? GST_VIDEO_INFO_HEIGHT(&out) - rows >= 2
                                             : GST_VIDEO_INFO_WIDTH(&out) - columns >= 2;
}

std::optional<ToldMove> told_scale(const GstVideoInfo& in, const GstVideoInfo& out) {
  const int width = GST_VIDEO_INFO_WIDTH(&out), height = GST_VIDEO_INFO_HEIGHT(&out);
  const int in_width = GST_VIDEO_INFO_WIDTH(&in), in_height = GST_VIDEO_INFO_HEIGHT(&in);
  if (in_width <= 0 || in_height <= 0 || has_another_shape(in, out)) return std::nullopt;
  return ToldMove{{.scale_x = static_cast<double>(width) / in_width,
                   .scale_y = static_cast<double>(height) / in_height},
                  width,
                  height,
                  false};
}

}  // namespace

FrameArea moved(const FrameArea& area, const FrameMove& move) {
  const FrameMove::Point a = move.of(area.left, area.top);
  const FrameMove::Point b = move.of(area.right, area.bottom);
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

FrameArea common(const FrameArea& a, const FrameArea& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

FrameMove then(const FrameMove& first, const FrameMove& second) {
  const FrameMove::Point origin = second.of(first.move_x, first.move_y);
  const double x = second.is_transposed ? first.scale_y : first.scale_x;
  const double y = second.is_transposed ? first.scale_x : first.scale_y;
  return {first.is_transposed != second.is_transposed, second.scale_x * x, second.scale_y * y,
          origin.x, origin.y};
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

FrameMove move_of_crop(GstBuffer* buffer, guint crop_x, guint crop_y) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop) return {};
  return {.move_x = static_cast<double>(crop_x) - crop->x,
          .move_y = static_cast<double>(crop_y) - crop->y};
}

std::optional<ToldMove> told_move(GQuark type, gpointer data, GstBuffer* from, guint crop_x,
                                  guint crop_y) {
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto& scale = *static_cast<const GstVideoMetaTransform*>(data);
    return told_scale(*scale.in_info, *scale.out_info);
  }
  if (type != matrix_quark()) return std::nullopt;
  const auto& matrix = *static_cast<const MatrixTransform*>(data);
  const std::optional<FrameMove> move = move_of(matrix);
  if (!move) return std::nullopt;
  return ToldMove{then(move_of_crop(from, crop_x, crop_y), *move),
                  GST_VIDEO_INFO_WIDTH(matrix.out_info), GST_VIDEO_INFO_HEIGHT(matrix.out_info),
                  true};
}

}  // namespace gstnpu
