// The ways that tracked objects went.
#pragma once

#include <gst/gst.h>

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "analytics/anchor.hpp"
#include "analytics/answer_meta.hpp"

namespace gstnpu {

/// Remembers where objects with an identity were. One thread.
class Trails {
 public:
  struct Point {
    double x = 0, y = 0;  ///< frame pixels
    double seconds = 0;   ///< of the stream
  };
  struct Trail {
    std::deque<Point> points;  ///< oldest first
    double seen = 0;           ///< seconds of the stream
  };

  /// What is older than `length` seconds is forgotten; all of it where time goes back. Points
  /// nearer than `step` pixels to the one before are none.
  void update(double seconds, double length, double step, Anchor anchor,
              std::span<const Region> regions);
  void clear() { trails_.clear(); }

  /// By identity. Ways of a single point are none, but are there.
  const std::map<guint64, Trail>& trails() const { return trails_; }

 private:
  void forget_older_than(double seconds);

  std::map<guint64, Trail> trails_;
  double seconds_ = 0;  // of the last frame
};

}  // namespace gstnpu
