// Turns maps of classes and values into colors.
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include <npuvision/answer.hpp>

#include "answers/map_contents.hpp"

#include "sprite.hpp"

namespace gstnpu {

/// A class that occurs in a map.
struct MapClass {
  guint16 id = 0;
  std::string label;
  double share = 0;  ///< share of the map, 0..1
  Color color;
};

/// A map's cells as color numbers: 0: no color, n: the nth color.
struct ColoredMap {
  guint columns = 0, rows = 0;
  std::vector<guint8> numbers;    ///< row after row
  std::vector<Color> colors;      ///< at most 255
  std::vector<MapClass> classes;  ///< classes with a color, the largest first; empty for value maps
  bool is_graded = false;         ///< numbers may be interpolated
  bool has_gaps = false;          ///< graded maps: no interpolation next to a cell without color
};

/// Colors a map, which must not be empty. A class labelled as background gets no color; with more
/// than 255 classes, only the largest get one.
ColoredMap color_classes(const npu::vision::Map<guint16>& classes,
                         const std::vector<std::string>& labels);
/// Colors a map from blue over green to red, from its least to its greatest value; anomalies from
/// 0.5 to 1, with no color below. Values that are not finite get no color.
ColoredMap color_values(const npu::vision::Map<float>& values, bool are_anomalies);

/// Position of a map's picture in pixels; it may start left of and above the first pixel.
struct MapSpan {
  double left, top, width, height;  ///< pixels, finite; width and height above 0
};

/// Fills `to`, `width` x `height` pixels, with color numbers. Classes meet in smooth lines, not
/// along the map's cells.
void scale(const ColoredMap& map, const MapSpan& span, int width, int height, guint8* to);

}  // namespace gstnpu
