// Boxes in model pixels: into the frame, in order, without doubles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/decoder.hpp>

#include "oriented.hpp"

namespace npu::vision {

/// Left, top, right, bottom.
using Edges = std::array<double, 4>;

struct Candidate {
  Object object;
  Edges edges;          ///< model pixels, not clipped: overlap is judged on these
  std::uint32_t index;  ///< of the box in the tensor; makes the order of equal scores definite
  Gaussian turned;      ///< of an oriented box, instead of the edges
};

/// From model pixels into the frame; clipped to it.
double frame_x(double x, const npu::FrameGeometry& geometry, FrameSize frame);
double frame_y(double y, const npu::FrameGeometry& geometry, FrameSize frame);

/// Intersection over union.
double overlap(const Edges& a, const Edges& b);

/// What a frame's tensor says is there. Keeps its memory from frame to frame.
class Boxes {
 public:
  void begin(const npu::FrameGeometry& geometry, FrameSize frame);
  /// Of edges in model pixels. What is not finite, or empty or outside the frame, is none.
  void add(const Edges& edges, float confidence, std::uint32_t label_id, std::size_t index);
  /// Of an oriented box in model pixels.
  void add_oriented(const OrientedBox& box, float confidence, std::uint32_t label_id,
                    std::size_t index);
  /// Whether a box was added, be it outside the frame.
  bool has_any() const { return has_any_; }
  /// Of a model whose boxes are shares of the picture: throws Error(kInvalidArgument) where each
  /// box that was added ends a whole picture beyond the picture. They are pixels then.
  void check_shares() const;
  /// Best first, at most so many.
  void keep_best(std::size_t most);
  /// Also drops what overlaps a better one of its class, or of any.
  void suppress(float iou_threshold, std::size_t most, bool is_class_agnostic = false);
  /// One or the other, as the options say, else as the family does `by_itself`.
  void choose(const DecodeOptions& options, bool by_itself);
  /// The same of oriented boxes, as the authors of YOLO do it: the overlap is ProbIoU, as much as
  /// the threshold is too much, and what is dropped still drops others.
  void suppress_oriented(float iou_threshold, std::size_t most);

  const std::vector<const Candidate*>& kept() const { return kept_; }
  /// What was kept, as the answer's objects.
  void give(Answer* answer) const;

 private:
  void sort();
  bool is_covered(std::size_t candidate, float iou_threshold) const;

  npu::FrameGeometry geometry_;
  FrameSize frame_;
  bool has_any_ = false;
  bool has_share_ = false;  // one that ends less than a picture beyond the picture
  std::vector<Candidate> candidates_;
  std::vector<const Candidate*> kept_;  // of candidates_
};

[[noreturn]] void refuse_shares();

/// Of a model whose boxes are pixels of its input: throws Error(kInvalidArgument) where it found
/// some, but not one of the four values of all its `count` boxes, `at(box, value)`, is beyond one
/// pixel. They are shares of the picture then, and all of it would be found in one pixel.
template <typename At>
void check_pixels(const Boxes& boxes, InputSize input, std::size_t count, const At& at) {
  constexpr float kMost = 1.05F;             // a box may reach beyond the picture
  constexpr std::uint32_t kLeastInput = 32;  // pixels
  if (!boxes.has_any() || std::min(input.width, input.height) < kLeastInput) return;
  for (std::size_t box = 0; box < count; ++box) {
    for (std::size_t value = 0; value < 4; ++value) {
      if (at(box, value) > kMost) return;
    }
  }
  refuse_shares();
}

}  // namespace npu::vision
