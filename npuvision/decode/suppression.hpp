// OpenVINO's operators of non-maximum suppression, computed on the host with the same arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace npu::vision {

/// A box and one class; a box may have several detections.
struct Detection {
  float score = 0;
  std::uint32_t box = 0, label = 0;
};

/// Orders detections by score, then by their order in the tensor.
bool is_better(const Detection& one, const Detection& other);

/// Left, top, right, bottom, as the graph computes with them.
using Corners = std::array<float, 4>;

/// Intersection over union of boxes whose sides are longer by `margin`, which is 1 where corners
/// are whole pixels inside the box. 0 for empty boxes.
float overlap(const Corners& a, const Corners& b, float margin);

struct Suppression {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::size_t most = kAll;           ///< detections
  std::size_t most_of_class = kAll;  ///< candidates; the best ones stay
  float margin = 0;                  ///< of overlap()
  bool is_class_agnostic = false;    ///< a box suppresses those of any class
  float iou_threshold = 1;           ///< an equal overlap is too much, as in OpenVINO's CPU plugin
};

/// Matrix NMS, https://arxiv.org/abs/2003.10152: drops nothing, but lowers scores.
struct Decay {
  Suppression limits;                   ///< without its last two
  std::optional<float> gaussian_sigma;  ///< nullopt: the decay is linear
  float lowest = 0;                     ///< decayed scores must be above it
};

/// Chooses among detections. Keeps its memory from frame to frame.
class Suppressor {
 public:
  void begin() { corners_.clear(); }
  /// The corners of the next detection.
  void add(const Corners& corners) { corners_.push_back(corners); }
  /// NonMaxSuppression-9 and MulticlassNms-9. Leaves the best detections, best first.
  void suppress(std::vector<Detection>* found, const Suppression& options);
  /// MatrixNms-8. Likewise, with the new scores.
  void decay(std::vector<Detection>* found, const Decay& options);

 private:
  bool is_covered(std::span<const Detection> found, std::uint32_t candidate,
                  const Suppression& options) const;
  void decay_class(std::span<const Detection> found, std::span<const std::uint32_t> best_first,
                   const Decay& options);
  void finish(std::vector<Detection>* found, std::size_t most);

  std::vector<Corners> corners_;
  std::vector<std::uint32_t> order_, kept_;
  std::vector<std::size_t> of_class_;
  std::vector<float> highest_;  // overlap of each candidate with a better one of its class
  std::vector<Detection> result_;
};

}  // namespace npu::vision
