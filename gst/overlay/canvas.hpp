// Draws sprites on frames, in their own format.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sprite.hpp"

namespace gstnpu {

using Components = std::array<guint8, GST_VIDEO_MAX_COMPONENTS>;

/// The value of each of a format's components for a color, 8 bits: by the matrix and the range of
/// the frames.
Components components_of(Color color, const GstVideoInfo& info);

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

  /// Components of a frame whose values stand for the same pixels: they have the same weights.
  struct Group {
    guint shift_x, shift_y;
    guint step;  // bytes from one value to the next
    std::vector<guint> components;
  };

  void blend_group(const Group& group, const Sprite& sprite, const Area& area,
                   GstVideoFrame* frame);
  void weigh_row(const Sprite& sprite, const Area& area, int row, const Group& group,
                 const GstVideoFrame& frame);
  void blend_palette(const Group& group, const Sprite& sprite, const Area& area,
                     GstVideoFrame* frame);
  void prepare_palette(const Sprite& sprite);
  void mix_numbers(const Group& group, int row, int first, std::span<const guint8> numbers,
                   GstVideoFrame* frame) const;
  std::span<const guint8> numbers_of_row(const Sprite& sprite, const Area& area, int row,
                                         const Group& group);
  /// Values of a row, from the `first` on, of a color and with `weights`.
  void mix_values(const Group& group, int row, int first, const Components& color,
                  std::span<const guint8> weights, GstVideoFrame* frame) const;

  GstVideoInfo info_;
  std::vector<Group> groups_;
  Components color_{};  // the sprite's
  // Of the numbers of the sprite's colors, 0 first: the color, what of each component it adds, and
  // what of the frame stays, 255: all.
  std::vector<Components> palette_;
  std::array<std::array<guint16, 256>, GST_VIDEO_MAX_COMPONENTS> shares_{};
  std::array<guint8, 256> kept_{};

  std::vector<guint16> sums_;    // of a row of a group: of the coverage of its values' pixels
  std::vector<guint8> weights_;  // of the same
  std::vector<guint8> covered_;  // a row of pixels that are
  std::vector<guint8> numbers_;  // of the colors of a row's values
};

}  // namespace gstnpu
