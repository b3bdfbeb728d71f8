// Turns logits at the model's resolution into masks of objects in frame pixels.
#pragma once

#include <cstddef>
#include <optional>
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

/// A place between two neighbours of a row or column of `size` values, after which it is stretched
/// to `scaled`: between the centres of pixels, and the outermost one beyond.
struct PlaneStep {
  std::size_t low = 0, high = 0;
  float weight = 0;  // of `high`
};
PlaneStep step_of(std::size_t place, std::size_t scaled, std::size_t size);
float between(float low, float high, float weight);

/// The rectangle of the frame outside which the interpolated logits are not above 0: around all
/// positive logits, plus one on each side. nullopt where no logit is positive.
std::optional<Object> region_of(const LogitPlane& plane, std::span<const float> logits,
                                const npu::FrameGeometry& geometry, FrameSize frame);

/// Paints the masks of objects one after the other. Logits are interpolated linearly between the
/// centres of their pixels. A pixel of the frame belongs to the object if it is inside its box and
/// its logit is above 0, that is its probability above one half.
class MaskPainter {
 public:
  /// The geometry must have the model's width and height. `objects` are all those that paint() will
  /// get; their masks share kMostMaskPixels.
  void begin(const LogitPlane& plane, const npu::FrameGeometry& geometry, FrameSize frame,
             std::span<const Object> objects);
  /// Sets the geometry for the next objects, whose plane covers another part of the frame.
  void aim(const npu::FrameGeometry& geometry) { geometry_ = geometry; }
  /// The part of the plane that paint() needs for this object.
  PlanePart part_for(const Object& object) const;
  /// Adds the object's mask; `logits` are the part's, row after row. Pixels that are not finite do
  /// not belong to it.
  void paint(const Object& object, const PlanePart& part, std::span<const float> logits,
             Answer* answer);
  /// The same; `logits` are the whole plane's.
  void paint_of_whole(const Object& object, std::span<const float> logits, Answer* answer);

 private:
  static PlaneStep place(double pixel, double offset, double scale, double per_model_pixel,
                         std::size_t size);
  Mask mask_of(const Object& object) const;
  PlaneStep column(const Mask& mask, std::uint32_t column) const;
  PlaneStep row(const Mask& mask, std::uint32_t row) const;

  LogitPlane plane_;
  npu::FrameGeometry geometry_;
  FrameSize frame_;
  double coarseness_ = 1;  // frame pixels to a column of a mask
  std::vector<PlaneStep> columns_;
  std::vector<float> blended_;  // two rows of the part, blended
  std::vector<float> part_;     // of a whole plane
};

}  // namespace npu::vision
