// Trails of tracked objects.
#pragma once

#include <gst/gst.h>

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "answers/anchor.hpp"
#include "answers/frame_answer.hpp"

namespace gstnpu {

/// Remembers where tracked objects were. Single-threaded.
class Trails {
 public:
  struct Point {
    double x = 0, y = 0;  ///< frame pixels
    double seconds = 0;   ///< stream time
  };
  struct Trail {
    std::deque<Point> points;  ///< oldest first
    double seen = 0;           ///< stream time when last seen
  };

  /// Adds a point for each tracked object unless it is within `step` pixels of the last one.
  /// Forgets points older than `length` seconds, and everything when time goes back.
  void update(double seconds, double length, double step, Anchor anchor,
              std::span<const FoundObject> regions);
  void clear() { trails_.clear(); }

  /// Trails by identity. Some have a single point or none, and cannot be drawn yet.
  const std::map<guint64, Trail>& trails() const { return trails_; }

 private:
  void forget_older_than(double seconds);

  std::map<guint64, Trail> trails_;
  double seconds_ = 0;  // time of the last frame
};

}  // namespace gstnpu
