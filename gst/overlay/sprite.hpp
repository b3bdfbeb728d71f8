// Areas of one color, or of the colors of a palette.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <span>

namespace gstnpu {

struct Color {
  guint8 red = 0, green = 0, blue = 0;  ///< R'G'B'
};

/// A rectangle of frame pixels that may reach outside the frame.
struct Sprite {
  int x = 0, y = 0, width = 0, height = 0;
  Color color;
  guint8 opacity = 255;  ///< 255: nothing shines through
  /// Coverage of each pixel, 255: all; rows of `coverage_stride` bytes. Null: every pixel is
  /// covered. Borrowed.
  const guint8* coverage = nullptr;
  std::size_t coverage_stride = 0;
  /// At most 255 colors; if there are any, `color` is unused and `coverage`, which must not be
  /// null, holds color numbers: 0: none, n: the nth. Borrowed.
  std::span<const Color> palette;
};

/// v / 255, rounded, for v up to 255 * 255. Uses only 16 bits, so that vector instructions take
/// many at once.
inline guint16 divided_by_255(guint16 v) {
  const auto more = static_cast<guint16>(v + 128);
  return static_cast<guint16>(more + (more >> 8)) >> 8;
}

}  // namespace gstnpu
