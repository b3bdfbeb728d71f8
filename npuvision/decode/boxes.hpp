// Converts boxes from model pixels to the frame, sorts them, and drops overlaps.
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
  Edges edges;          ///< model pixels, not clipped; used for overlaps
  std::uint32_t index;  ///< of the box in the tensor; orders equal scores
  Gaussian turned;      ///< replaces `edges` for oriented boxes
};

/// Convert model pixels to frame pixels, clipped to the frame.
double frame_x(double x, const npu::FrameGeometry& geometry, FrameSize frame);
double frame_y(double y, const npu::FrameGeometry& geometry, FrameSize frame);

/// An object that fills all that the model saw.
Object filling(FrameSize frame, float confidence, std::uint32_t label_id = 0);

/// Intersection over union.
double overlap(const Edges& a, const Edges& b);

/// The boxes found in a frame. Keeps its memory from frame to frame.
class Boxes {
 public:
  void begin(const npu::FrameGeometry& geometry, FrameSize frame);
  /// Adds a box by its edges in model pixels, unless it is not finite or empty. One outside the
  /// frame takes part in suppression and takes a place, but is not kept.
  void add(const Edges& edges, float confidence, std::uint32_t label_id, std::size_t index);
  /// Adds an oriented box in model pixels.
  void add_oriented(const OrientedBox& box, float confidence, std::uint32_t label_id,
                    std::size_t index);
  /// Whether a box was given, even an empty one or one outside the frame.
  bool was_given() const { return was_given_; }
  /// For models whose boxes are shares of the picture: throws Error(kInvalidArgument) if every
  /// added box ends more than a whole picture beyond the picture. They must be pixels then.
  void check_shares() const;
  /// Keeps the best boxes, best first, at most `most`.
  void keep_best(std::size_t most);
  /// Also drops boxes that overlap a better one of their class, or of any class.
  void suppress(float iou_threshold, std::size_t most, bool is_class_agnostic = false);
  /// Calls keep_best() or suppress(), as the options say, or else by the family's own `by_itself`.
  void choose(const DecodeOptions& options, bool by_itself);
  /// Suppresses oriented boxes as YOLO's authors do: overlap is ProbIoU, an overlap equal to the
  /// threshold is too much, and dropped boxes still drop others.
  void suppress_oriented(float iou_threshold, std::size_t most);

  const std::vector<const Candidate*>& kept() const { return kept_; }
  /// Copies the kept boxes to the answer's objects.
  void give(Answer* answer) const;

 private:
  void sort();
  void drop_outside();
  bool is_covered(std::size_t candidate, float iou_threshold) const;

  npu::FrameGeometry geometry_;
  FrameSize frame_;
  bool was_given_ = false;
  bool has_any_ = false;    // that is not empty
  bool has_share_ = false;  // some box ends less than a picture beyond the picture
  std::vector<Candidate> candidates_;
  std::vector<const Candidate*> kept_;  // of candidates_
};

[[noreturn]] void refuse_shares();

/// For models whose boxes are pixels of the input: throws Error(kInvalidArgument) if boxes were
/// given, in whatever order their values are, but none of the four values of all `count` boxes,
/// `at(box, value)`, exceeds one pixel. They must be shares of the picture then, and everything
/// would be found in one pixel.
template <typename At>
void check_pixels(const Boxes& boxes, InputSize input, std::size_t count, const At& at) {
  constexpr float kMost = 1.05F;             // a box may reach beyond the picture
  constexpr std::uint32_t kLeastInput = 32;  // pixels
  if (!boxes.was_given() || std::min(input.width, input.height) < kLeastInput) return;
  bool has_share = false;  // rows of zeros fill up a tensor
  for (std::size_t box = 0; box < count; ++box) {
    for (std::size_t value = 0; value < 4; ++value) {
      if (at(box, value) > kMost) return;
      has_share = has_share || at(box, value) > 0;
    }
  }
  if (has_share) {
    refuse_shares();
  }
}

}  // namespace npu::vision
