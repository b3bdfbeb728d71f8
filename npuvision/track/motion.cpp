#include "motion.hpp"

#include <algorithm>
#include <cmath>

namespace npu::vision {
namespace {

// Relative to the box's size; ByteTrack's values at 30 frames a second.
constexpr double kFoundDeviation = 1.0 / 20;
constexpr double kVelocityDeviation = 4;  // a second: a new box may go anywhere
constexpr double kAcceleration = 1;

constexpr double kLeastSide = 1;  // pixels

struct Box {
  double x, y, width, height;
};

Box box_of(const Edges& edges) {
  return {(edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2, edges[2] - edges[0],
          edges[3] - edges[1]};
}

double size_of(double width, double height) {
  return std::sqrt(std::max(width, kLeastSide) * std::max(height, kLeastSide));
}

}  // namespace

Coordinate::Coordinate(double place, double deviation, double velocity_deviation)
    : place_(place),
      place_variance_(deviation * deviation),
      velocity_variance_(velocity_deviation * velocity_deviation) {}

void Coordinate::predict(double seconds, double acceleration) {
  const double t = seconds, noise = acceleration * acceleration;
  place_ += velocity_ * t;
  place_variance_ += 2 * t * covariance_ + t * t * velocity_variance_ + noise * t * t * t / 3;
  covariance_ += t * velocity_variance_ + noise * t * t / 2;
  velocity_variance_ += noise * t;
}

void Coordinate::correct(double place, double deviation) {
  const double sum = place_variance_ + deviation * deviation;
  const double place_gain = place_variance_ / sum, velocity_gain = covariance_ / sum;
  const double off = place - place_;
  place_ += place_gain * off;
  velocity_ += velocity_gain * off;
  velocity_variance_ -= velocity_gain * covariance_;
  covariance_ -= place_gain * covariance_;
  place_variance_ -= place_gain * place_variance_;
}

Motion::Motion(const Edges& found) {
  const Box box = box_of(found);
  const double size = size_of(box.width, box.height);
  const double deviation = kFoundDeviation * size, velocity = kVelocityDeviation * size;
  x_ = Coordinate(box.x, deviation, velocity);
  y_ = Coordinate(box.y, deviation, velocity);
  width_ = Coordinate(box.width, deviation, velocity);
  height_ = Coordinate(box.height, deviation, velocity);
}

double Motion::size() const {
  return size_of(width_.place(), height_.place());
}

void Motion::predict(double seconds) {
  const double acceleration = kAcceleration * size();
  for (Coordinate* coordinate : {&x_, &y_, &width_, &height_}) {
    coordinate->predict(seconds, acceleration);
  }
}

void Motion::correct(const Edges& found) {
  const Box box = box_of(found);
  const double deviation = kFoundDeviation * size_of(box.width, box.height);
  x_.correct(box.x, deviation);
  y_.correct(box.y, deviation);
  width_.correct(box.width, deviation);
  height_.correct(box.height, deviation);
}

void Motion::keep_size() {
  width_.stop();
  height_.stop();
}

Edges Motion::edges() const {
  const double width = std::max(width_.place(), kLeastSide) / 2;
  const double height = std::max(height_.place(), kLeastSide) / 2;
  return {x_.place() - width, y_.place() - height, x_.place() + width, y_.place() + height};
}

}  // namespace npu::vision
