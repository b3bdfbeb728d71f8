// What is drawn: areas of one color, or of the colors of a palette.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <span>

namespace gstnpu {

struct Color {
  guint8 red = 0, green = 0, blue = 0;  ///< R'G'B'
};

/// A rectangle of frame pixels, which may stand out of the frame.
struct Sprite {
  int x = 0, y = 0, width = 0, height = 0;
  Color color;
  guint8 opacity = 255;  ///< 255: nothing shines through
  /// How much of each pixel belongs to it, 255: all; rows of `coverage_stride` bytes. Null: all of
  /// each. Borrowed.
  const guint8* coverage = nullptr;
  std::size_t coverage_stride = 0;
  /// Where it has colors, at most 255, `coverage` is not null and tells which of them a pixel has:
  /// 0: none, n: the nth. `color` does not count. Borrowed.
  std::span<const Color> palette;
};

/// Rounded v / 255, for v up to 255 * 255. In 16 bits, of which vectors hold many.
inline guint16 divided_by_255(guint16 v) {
  const auto more = static_cast<guint16>(v + 128);
  return static_cast<guint16>(more + (more >> 8)) >> 8;
}

}  // namespace gstnpu
