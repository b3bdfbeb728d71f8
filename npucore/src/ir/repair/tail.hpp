// The work that the end of a detector's graph does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

#include "meaning.hpp"

namespace npu::ir {

/// The layers that choose the detections, and their columns: the host does the same with these.
/// Without `nms` and `class_nms` it is TopK.
struct Tail {
  /// The host's limit: a model's card has no more (npuvision, CardLimits).
  static constexpr std::int64_t kMostDetections = 1 << 16;
  static constexpr double kLargest = 1e30, kLeastScale = 1e-12;

  Meaning boxes, scores;
  std::vector<Meaning> more;       ///< masks' coefficients, key points, an angle
  std::vector<LayerId> detectors;  ///< the layers that choose the detections
  std::int64_t detections = 0;
  /// Suppression in each class of a box above the threshold; or in its best class alone, with the
  /// boxes multiplied by a scale and each class moved by an offset from the one before.
  struct Nms {
    double iou = 0, score = 0;
    bool is_best_class = false;
    double scale = 1, offset = 0;
  };
  std::optional<Nms> nms;
  /// MulticlassNms or MatrixNms, in each class of a box.
  struct ClassNms {
    double iou = 0, score = 0;
    double margin = 0;                       ///< added to the difference of corners to get a side
    std::optional<std::int64_t> candidates;  ///< only a class's best ones; else all
    std::optional<std::int64_t> background;  ///< the class to leave out
    struct Matrix {
      double lowest = 0;            ///< decayed scores must be above it
      std::optional<double> sigma;  ///< for a Gaussian decay; else it is linear
    };
    std::optional<Matrix> matrix;
  };
  std::optional<ClassNms> class_nms;
  bool are_scores_by_class = false;  ///< their root is [1, classes, boxes]
  std::vector<LayerId> counts;       ///< Results with the number of chosen rows, or their places
  std::int64_t classes() const { return scores.width; }
};

/// Nothing unless the output is exactly such a tail's.
std::optional<Tail> read_tail(const Document& document, const Weights& weights, PortRef output);

}  // namespace npu::ir
