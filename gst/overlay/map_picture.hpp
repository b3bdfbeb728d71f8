// Maps of classes and values as colors.
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include <npuvision/answer.hpp>

#include "analytics/map_meta.hpp"
#include "analytics/map_models.hpp"

#include "sprite.hpp"

namespace gstnpu {

/// A class that a map has.
struct MapClass {
  guint16 id = 0;
  std::string label;
  double share = 0;  ///< of the map, 0..1
  Color color;
};

/// A map's places as numbers of colors: 0: none, n: the nth.
struct ColoredMap {
  guint columns = 0, rows = 0;
  std::vector<guint8> numbers;    ///< row after row
  std::vector<Color> colors;      ///< at most 255
  std::vector<MapClass> classes;  ///< that have a color, the largest first; empty of a value map
  bool is_graded = false;         ///< between two numbers lie those that are between them
  bool has_gaps = false;          ///< of a graded one: but not between none and another
};

/// Of a map that is not empty. What is background by its label has no color; of more than 255
/// classes the largest have one.
ColoredMap color_classes(const npu::vision::Map<guint16>& classes,
                         const std::vector<std::string>& labels);
/// The same: from blue by green to red, of the least to the greatest value; of anomalies from 0.5
/// to 1, and none below. What is no number has no color.
ColoredMap color_values(const npu::vision::Map<float>& values, bool are_anomalies);

/// Where a map's picture lies among pixels; its first pixel may lie left of and above them.
struct MapSpan {
  double left, top, width, height;  ///< pixels, finite; width and height above 0
};

/// Fills `to`, `width` x `height` pixels, with numbers of colors. Classes meet in smooth lines, not
/// along the map's places.
void scale(const ColoredMap& map, const MapSpan& span, int width, int height, guint8* to);

}  // namespace gstnpu
