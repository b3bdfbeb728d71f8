#pragma once

#include <functional>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include <npucore/model.hpp>

namespace npu::test {

/// The end of an end-to-end detector as OpenVINO writes it for PyTorch's operators, and how it may
/// differ.
struct Tail {
  /// How ONNX rounds quotients of whole numbers down: by one less where the signs differ.
  enum class Correction { kNone, kSubtracted, kSelected };

  int classes = 5, boxes = 40, detections = 12, more = 0;
  ov::element::Type index = ov::element::i64;      ///< of TopK's places
  ov::element::Type constants = ov::element::i64;  ///< of whole numbers to compute with
  bool by_floor = true;                            ///< Floor behind divisions of whole numbers
  bool remainder_by_product = true;                ///< x - x / n * n, else FloorMod
  bool gathers_boxes_twice = false;                ///< YOLOv10, else YOLO26
  bool is_one_tensor = true;                       ///< boxes and scores are split from one
  bool has_scores_first = false;                   ///< in that one
  bool names_head = false;                         ///< "head", what they come from
  bool is_older_file = false;                      ///< outputs are known by their tensors alone
  Correction correction = Correction::kNone;
  // Almost a tail, but none:
  int divisor = 0;               ///< 0: the number of classes
  int first_detections = 0;      ///< of the first TopK; 0: as many
  int correct_below = 0;         ///< places below are corrected
  bool keeps_lowest = false;     ///< the second TopK takes the lowest scores
  bool swaps_score = false;      ///< class in front of the score
  bool uses_other_best = false;  ///< the first TopK is by a part of the classes
  bool scales_boxes = false;     ///< arithmetic behind the Gather
  bool is_two_outputs = false;   ///< of one value
  bool shows_scores = false;     ///< what the last TopK chose is an output, too
  bool shows_rows = false;       ///< what the first one chose is
  bool shows_head = false;       ///< what boxes and scores come from
  bool shows_classes = false;    ///< the best three of a picture, which are no boxes
};

/// An input "boxes" [1, 4 + classes + more, boxes] and the output "output0".
Model model_of(const Tail& tail);
/// Several of one head, which all have the first one's sizes: "output0", "output1" and so on.
Model model_of(const std::vector<Tail>& tails);
/// Writes OpenVINO's model and reads it back. Older versions of OpenVINO give outputs no names
/// beside those of their tensors.
Model written(const ov::OutputVector& outputs, const ov::ParameterVector& parameters,
              bool is_older = false);

}  // namespace npu::test
