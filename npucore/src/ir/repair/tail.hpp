// What the end of a detector's graph does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

#include "meaning.hpp"

namespace npu::ir {

/// What chooses the detections, and on which columns: the host does the same with these.
struct Tail {
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
  std::optional<Nms> nms;  ///< else TopK
  std::int64_t classes() const { return scores.width; }
};

/// Nothing where the output is not exactly such a tail's.
std::optional<Tail> read_tail(const Document& document, const Weights& weights, PortRef output);

}  // namespace npu::ir
