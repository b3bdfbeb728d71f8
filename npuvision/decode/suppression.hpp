// What OpenVINO's operators of non-maximum suppression choose, on the host, in their arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::vision {

/// One box may be a detection of several classes.
struct Detection {
  float score = 0;
  std::uint32_t box = 0, label = 0;
};

/// The order of detections: by score, then as they lie in the tensor.
bool is_better(const Detection& one, const Detection& other);

/// Left, top, right, bottom, as the graph computes with them.
using Corners = std::array<float, 4>;

/// Intersection over union; 0 of an empty box.
float overlap(const Corners& a, const Corners& b);

/// NonMaxSuppression-9 of boxes by their corners. Keeps its memory from frame to frame.
class Suppressor {
 public:
  /// Whether a box suppresses those of its own class alone.
  enum class Across { kOneClass, kAllClasses };

  void begin() { corners_.clear(); }
  /// The corners of the next detection.
  void add(const Corners& corners) { corners_.push_back(corners); }
  /// Leaves the best ones, best first, at most so many: none overlaps a better one by as much as
  /// the threshold, which is how OpenVINO's CPU plugin takes it.
  void suppress(std::vector<Detection>* found, float iou_threshold, std::size_t most,
                Across across);

 private:
  void sort(const std::vector<Detection>& found);

  std::vector<Corners> corners_;
  std::vector<std::uint32_t> order_, kept_;
  std::vector<Detection> result_;
};

}  // namespace npu::vision
