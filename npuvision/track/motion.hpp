// Where a box is going.
#pragma once

#include <array>

#include <npuvision/answer.hpp>

#include "decode/boxes.hpp"

namespace npu::vision {

/// A Kalman filter of one coordinate that moves at a constant velocity, but for accelerations that
/// are white noise (Bar-Shalom, Li, Kirubarajan: Estimation with Applications, 2001, section 6.2).
class Coordinate {
 public:
  Coordinate() = default;
  /// `deviation` of the place, pixels; `velocity_deviation`, pixels a second.
  Coordinate(double place, double deviation, double velocity_deviation);
  /// `acceleration`: the velocity's deviation after a second, pixels a second.
  void predict(double seconds, double acceleration);
  void correct(double place, double deviation);
  void stop() { velocity_ = 0; }

  double place() const { return place_; }
  double velocity() const { return velocity_; }

 private:
  double place_ = 0, velocity_ = 0;
  double place_variance_ = 0, covariance_ = 0, velocity_variance_ = 0;
};

/// Of a box: its centre and its size.
class Motion {
 public:
  Motion() = default;
  explicit Motion(const Edges& found);
  void predict(double seconds);
  void correct(const Edges& found);
  /// Nothing is known about how the size of what is not seen changes.
  void keep_size();

  Edges edges() const;
  double velocity_x() const { return x_.velocity(); }
  double velocity_y() const { return y_.velocity(); }

 private:
  double size() const;  ///< what deviations are told in: the side of a square as large, pixels

  Coordinate x_, y_, width_, height_;
};

}  // namespace npu::vision
