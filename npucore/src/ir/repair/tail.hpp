// What the end of a detector's graph does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

#include "meaning.hpp"

namespace npu::ir {

/// What chooses the detections, and on which columns: the host does the same with these. Without
/// `nms` and `class_nms` it is TopK.
struct Tail {
  /// What the host takes: a model's card has no more (npuvision, CardLimits).
  static constexpr std::int64_t kMostDetections = 1 << 16;
  static constexpr double kLargest = 1e30, kLeastScale = 1e-12;

  Meaning boxes, scores;
  std::vector<Meaning> more;       ///< masks' coefficients, key points, an angle
  std::vector<LayerId> detectors;  ///< what chooses the detections
  std::int64_t detections = 0;
  /// Of each class of a box above the threshold; or of its best class alone, where the boxes are
  /// multiplied by a scale and each class is moved by an offset from the one before.
  struct Nms {
    double iou = 0, score = 0;
    bool is_best_class = false;
    double scale = 1, offset = 0;
  };
  std::optional<Nms> nms;
  /// MulticlassNms, or MatrixNms, of each class of a box.
  struct ClassNms {
    double iou = 0, score = 0;
    double margin = 0;                       ///< by which sides are longer than corners tell
    std::optional<std::int64_t> candidates;  ///< of a class, the best ones; else all
    std::optional<std::int64_t> background;  ///< the class that is none
    struct Matrix {
      double lowest = 0;            ///< that decayed scores are above
      std::optional<double> sigma;  ///< of a Gaussian decay; else it is linear
    };
    std::optional<Matrix> matrix;
  };
  std::optional<ClassNms> class_nms;
  bool are_scores_by_class = false;  ///< their root is [1, classes, boxes]
  std::vector<LayerId> counts;       ///< Results that show how many were chosen, or which
  std::int64_t classes() const { return scores.width; }
};

/// Nothing where the output is not exactly such a tail's.
std::optional<Tail> read_tail(const Document& document, const Weights& weights, PortRef output);

}  // namespace npu::ir
