// Draws sprites on frames in the frames' own format.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sprite.hpp"

namespace gstnpu {

using Components = std::array<guint8, GST_VIDEO_MAX_COMPONENTS>;

/// The 8-bit components of a color in the frames' format, matrix and range.
Components components_of(Color color, const GstVideoInfo& info);

/// Draws on frames of one layout. Single-threaded.
class Canvas {
 public:
  /// Takes YUV, RGB and gray formats with 8 bits a component, packed or in planes.
  static bool draws_on(const GstVideoFormatInfo& format);

  /// Throws npu::Error for a format that it cannot draw on.
  explicit Canvas(const GstVideoInfo& info);

  /// `frame` is mapped for reading and writing, and has the layout's format and at least its
  /// size.
  void blend(const Sprite& sprite, GstVideoFrame* frame);

 private:
  struct Area {
    int left, top, right, bottom;  // the sprite inside the frame, pixels
  };

  /// Components whose values stand for the same pixels, and so have the same weights.
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
  /// Mixes a color into a row's values, from value `first` on, with `weights`.
  void mix_values(const Group& group, int row, int first, const Components& color,
                  std::span<const guint8> weights, GstVideoFrame* frame) const;

  GstVideoInfo info_;
  std::vector<Group> groups_;
  Components color_{};  // the sprite's
  // Indexed by color number, 0 first: the color, its share of each component, and how much
  // of the frame stays (255: all).
  std::vector<Components> palette_;
  std::array<std::array<guint16, 256>, GST_VIDEO_MAX_COMPONENTS> shares_{};
  std::array<guint8, 256> kept_{};

  std::vector<guint16> sums_;    // coverage of each cell of a row
  std::vector<guint8> weights_;  // weights of the same cells
  std::vector<guint8> covered_;  // a row of covered pixels
  std::vector<guint8> numbers_;  // color numbers of a row's values
};

}  // namespace gstnpu
