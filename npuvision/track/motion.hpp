// Predicts the movement of boxes.
#pragma once

#include <array>

#include <npuvision/answer.hpp>

#include "decode/boxes.hpp"

namespace npu::vision {

/// A Kalman filter of one coordinate with constant velocity, disturbed by accelerations that are
/// white noise (Bar-Shalom, Li, Kirubarajan: Estimation with Applications, 2001, section 6.2).
class Coordinate {
 public:
  Coordinate() = default;
  /// `deviation` of the position in pixels, `velocity_deviation` in pixels a second.
  Coordinate(double place, double deviation, double velocity_deviation);
  /// `acceleration`: deviation of the velocity after a second, in pixels a second.
  void predict(double seconds, double acceleration);
  void correct(double place, double deviation);
  void stop() { velocity_ = 0; }

  double place() const { return place_; }
  double velocity() const { return velocity_; }

 private:
  double place_ = 0, velocity_ = 0;
  double place_variance_ = 0, covariance_ = 0, velocity_variance_ = 0;
};

/// Filters a box's centre and size.
class Motion {
 public:
  Motion() = default;
  explicit Motion(const Edges& found);
  void predict(double seconds);
  void correct(const Edges& found);
  /// Stops the change of size of a box that is not seen: nothing is known about it.
  void keep_size();

  Edges edges() const;
  double velocity_x() const { return x_.velocity(); }
  double velocity_y() const { return y_.velocity(); }

 private:
  double size() const;  ///< side of a square of the same area, pixels; unit of deviations

  Coordinate x_, y_, width_, height_;
};

}  // namespace npu::vision
