// Boxes that are turned about their centre.
#pragma once

#include <array>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>

namespace npu::vision {

/// With the angle that OrientedBox promises. Where the scales of the two axes differ, a box becomes
/// a parallelogram: its longer sides keep their direction and length, and it keeps its area.
OrientedBox into_frame(const OrientedBox& model_pixels, const npu::FrameGeometry& geometry);

/// Left, top, right, bottom of what encloses it.
std::array<double, 4> enclosing(const OrientedBox& box);

/// A box as a normal distribution: its centre and its covariance.
struct Gaussian {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
};
Gaussian gaussian_of(const OrientedBox& box);

/// 1 less the Hellinger distance of the two: ProbIoU, https://arxiv.org/abs/2106.06072.
double probabilistic_overlap(const Gaussian& a, const Gaussian& b);

}  // namespace npu::vision
