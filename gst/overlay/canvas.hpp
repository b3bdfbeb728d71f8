// Draws sprites on frames, in their own format.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sprite.hpp"

namespace gstnpu {

/// The value of each of a format's components for a color, 8 bits: by the matrix and the range of
/// the frames.
std::array<guint8, GST_VIDEO_MAX_COMPONENTS> components_of(Color color, const GstVideoInfo& info);

/// Draws on frames of one layout. One thread.
class Canvas {
 public:
  /// Formats of 8 bits a component: YUV, RGB and gray ones, packed or in planes.
  static bool draws_on(const GstVideoFormatInfo& format);

  /// Throws npu::Error for a format that it does not draw on.
  explicit Canvas(const GstVideoInfo& info);

  /// `frame` is mapped for reading and writing, and has the layout's format and at least its
  /// size.
  void blend(const Sprite& sprite, GstVideoFrame* frame);

 private:
  struct Area {
    int left, top, right, bottom;  // of the sprite inside the frame, pixels
  };

  void blend_component(guint component, const Sprite& sprite, const Area& area, guint8 value,
                       GstVideoFrame* frame);
  void weigh_row(const Sprite& sprite, const Area& area, int row, guint shift_x, guint shift_y,
                 const GstVideoFrame& frame);

  GstVideoInfo info_;
  std::vector<guint> sums_;      // of a row of a component: of the coverage of its pixels
  std::vector<guint8> weights_;  // of the same
};

}  // namespace gstnpu
