// Follows pixels from a frame to another one that was made from it.
#pragma once

#include <gst/video/video.h>

#include <optional>
#include <utility>

#include "meta/npumeta.h"

namespace gstnpu {

/// Moves (x, y), in pixel edges, to (scale_x * x + move_x, scale_y * y + move_y); if it is
/// transposed, to (scale_x * y + move_x, scale_y * x + move_y).
struct FrameMove {
  bool is_transposed = false;
  double scale_x = 1, scale_y = 1;  ///< below 0: mirrored
  double move_x = 0, move_y = 0;

  struct Point {
    double x, y;
  };
  Point of(double x, double y) const {
    if (is_transposed) {
      std::swap(x, y);
    }
    return {scale_x * x + move_x, scale_y * y + move_y};
  }
  Point back(double x, double y) const {
    const Point was{(x - move_x) / scale_x, (y - move_y) / scale_y};
    return is_transposed ? Point{was.y, was.x} : was;
  }
  bool is_identity() const { return *this == FrameMove{}; }
  bool operator==(const FrameMove&) const = default;
};

/// Edges in pixels of a frame.
struct FrameArea {
  double left, top, right, bottom;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool is_empty() const { return !(width() > 1e-6 && height() > 1e-6); }  ///< but for rounding
  bool operator==(const FrameArea&) const = default;
};

GST_NPU_META_API FrameArea moved(const FrameArea& area, const FrameMove& move);
/// The intersection, which may be empty.
GST_NPU_META_API FrameArea common(const FrameArea& a, const FrameArea& b);

/// Does one move, then the other.
GST_NPU_META_API FrameMove then(const FrameMove& first, const FrameMove& second);

/// The move from the frame that was inferred to the meta's frame.
GST_NPU_META_API FrameMove move_between(const GstNpuInferenceMeta& origin,
                                        const GstNpuInferenceMeta& meta);

/// The move that the buffer's GstVideoCropMeta makes of a frame whose own began at `crop_x`,
/// `crop_y`.
GST_NPU_META_API FrameMove move_of_crop(GstBuffer* buffer, guint crop_x, guint crop_y);

/// An element's word to metas about a frame that it made from another one.
struct ToldMove {
  FrameMove move;        ///< from the meta's frame
  int width, height;     ///< of the new frame
  bool is_crop_cut_off;  ///< a GstVideoCropMeta of the old frame does not hold for the new one
};
/// Reads the arguments of a GstMetaTransformFunction. Nullopt where they tell no move, or one that
/// cannot be followed: slanted, in perspective, or scaled to another shape, where nothing tells
/// whether the frame got borders or was stretched. `crop_x`, `crop_y`: where the meta's frame
/// begins in `from`. Only videocrop takes frames with a GstVideoCropMeta; its matrix describes its
/// own crop alone.
std::optional<ToldMove> told_move(GQuark type, gpointer data, GstBuffer* from, guint crop_x,
                                  guint crop_y);

}  // namespace gstnpu
