#pragma once

#include <array>
#include <span>
#include <string_view>

#include <npucore/frame.hpp>

namespace npu::base {

/// All that npucore knows of a pixel format.
struct PixelFormatRow {
  PixelFormat value;
  const char* name;  ///< GStreamer's
  int bits;          ///< of a component
  std::span<const PlaneShape> planes;
  /// The component in each byte of a plane's sample: y, u (Cb), v (Cr), r, g or b; x is filler. A
  /// letter twice in a row is a low byte and its high one.
  std::array<std::string_view, 3> bytes;

  bool has(char component) const;
};

/// A row without planes for a value that is none of the enumeration's.
const PixelFormatRow& row_of(PixelFormat format);

}  // namespace npu::base
