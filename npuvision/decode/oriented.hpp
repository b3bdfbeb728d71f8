// Boxes turned about their centres.
#pragma once

#include <array>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>

namespace npu::vision {

/// Converts a box to frame pixels, with an angle in OrientedBox's range. If the axes have different
/// scales a box becomes a parallelogram: its longer sides keep their direction and length, and it
/// keeps its area.
OrientedBox into_frame(const OrientedBox& model_pixels, const npu::FrameGeometry& geometry);

/// Left, top, right, bottom of the enclosing rectangle.
std::array<double, 4> enclosing(const OrientedBox& box);

/// A box as a normal distribution: its centre and its covariance.
struct Gaussian {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
};
Gaussian gaussian_of(const OrientedBox& box);

/// ProbIoU, 1 minus the Hellinger distance: https://arxiv.org/abs/2106.06072.
double probabilistic_overlap(const Gaussian& a, const Gaussian& b);

}  // namespace npu::vision
