// Pictures that are kept as PNGs, and how unlike two of them are.
#pragma once

#include <gst/gst.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gstnpu::test {

/// R, G, B of each pixel, row after row.
struct Picture {
  int width = 0, height = 0;
  std::vector<guint8> rgb;

  const guint8* at(int x, int y) const {
    return rgb.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                             static_cast<std::size_t>(x));
  }
  guint8* at(int x, int y) { return const_cast<guint8*>(std::as_const(*this).at(x, y)); }
};

/// Both throw std::runtime_error with cairo's reason.
Picture read_png(const std::string& file);
void write_png(const Picture& picture, const std::string& file);

struct Area {
  int x, y, width, height;  // pixels
};

struct Difference {
  double mean = 0;   ///< of all values, 0 to 255
  double share = 0;  ///< of pixels with a value that differs by more than 32, 0 to 1
};

/// Compares two pictures of one size, except for the areas in `left_out`.
Difference difference(const Picture& one, const Picture& other, std::span<const Area> left_out);

}  // namespace gstnpu::test
