// Follows pixels from a frame to another one that was made from it.
#pragma once

#include <optional>

#include <npuvision/answer.hpp>

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
  Point of(double x, double y) const;
  Point back(double x, double y) const;
  bool operator==(const FrameMove&) const = default;
};

/// Edges in pixels of a frame.
struct FrameArea {
  double left, top, right, bottom;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool is_empty() const { return !(width() > 1e-6 && height() > 1e-6); }  ///< but for rounding
};

FrameArea moved(const FrameArea& area, const FrameMove& move);
/// The intersection, which may be empty.
FrameArea common(const FrameArea& a, const FrameArea& b);

/// The move from the frame that was inferred to the meta's frame.
FrameMove move_between(const GstNpuInferenceMeta& origin, const GstNpuInferenceMeta& meta);

/// Turns a frame's answer into one for a frame that was made from it. Objects outside of that are
/// dropped, and key points get confidence 0; masks and maps are cut. Results of the whole frame
/// stay. Throws npu::Error where a map has no values for places that are new in the frame.
npu::vision::Answer moved(const npu::vision::Answer& answer, const FrameMove& move,
                          npu::vision::FrameSize from, npu::vision::FrameSize to);

/// The areas that maps of an object cover.
struct MapAreas {
  FrameArea from;  ///< of the frame that was inferred
  FrameArea to;    ///< the object's part of that in the other frame; empty: no maps are left
};
/// Does the same for an answer whose maps are an object's, and cover the first area.
npu::vision::Answer moved(const npu::vision::Answer& answer, const FrameMove& move,
                          const MapAreas& maps, npu::vision::FrameSize to);

}  // namespace gstnpu
