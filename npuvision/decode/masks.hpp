// Masks of objects, from logits at the model's resolution to the frame's pixels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>

namespace npu::vision {

/// A plane of logits that covers the model's whole input.
struct LogitPlane {
  std::size_t width = 0, height = 0;
};

/// The part of a plane that an object's pixels are interpolated from.
struct PlanePart {
  std::size_t left = 0, top = 0, width = 0, height = 0;
};

/// Paints one object's mask after another. The logits are interpolated linearly between the centres
/// of their pixels; a pixel of the frame belongs to the object where it is inside its box and its
/// logit is above 0, its probability above one half.
class MaskPainter {
 public:
  /// The geometry must have the model's width and height. The masks of all `objects` that paint()
  /// will add share what kMostMaskPixels allows.
  void begin(const LogitPlane& plane, const npu::FrameGeometry& geometry, FrameSize frame,
             std::span<const Object> objects);
  /// The next objects' plane covers another part of the frame: `geometry` leads from it there.
  void aim(const npu::FrameGeometry& geometry) { geometry_ = geometry; }
  /// What paint() needs of the plane for this object.
  PlanePart part_for(const Object& object) const;
  /// Adds the object's mask; `logits` are those of the part, row after row. What is not finite
  /// belongs to nothing.
  void paint(const Object& object, const PlanePart& part, std::span<const float> logits,
             Answer* answer);

 private:
  /// Where a pixel of the frame lies between two of the plane.
  struct Place {
    std::size_t low = 0, high = 0;
    float weight = 0;  // of the second
  };
  static Place place(double pixel, double offset, double scale, double per_model_pixel,
                     std::size_t size);
  Mask mask_of(const Object& object) const;
  Place column(const Mask& mask, std::uint32_t column) const;
  Place row(const Mask& mask, std::uint32_t row) const;

  LogitPlane plane_;
  npu::FrameGeometry geometry_;
  FrameSize frame_;
  double coarseness_ = 1;  // frame pixels to a column of a mask
  std::vector<Place> columns_;
  std::vector<float> blended_;  // two rows of the part, as one
};

}  // namespace npu::vision
