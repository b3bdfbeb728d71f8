#pragma once

#include <optional>
#include <vector>

#include <npucore/model.hpp>

namespace npu::test {

/// The end of Ultralytics' exports with nms=True as OpenVINO writes it for PyTorch's operators, and
/// how it may differ.
struct MaskedTail {
  int classes = 3, boxes = 60, detections = 20, more = 0;
  float conf = 0.25F, iou = 0.45F;
  bool is_agnostic = false;      ///< no offset for each class
  bool is_scaled = true;         ///< the boxes, for NonMaxSuppression
  float scales_moved = 1;        ///< the boxes, once more, with what moved them
  bool gathers_by_names = true;  ///< the columns are parts of one tensor
  bool is_stable = false;        ///< of classes with one score the first; else OpenVINO takes any
  // Almost such a tail, but none:
  bool masks_by_other_best = false;   ///< of a part of the classes
  bool masks_equal = false;           ///< the threshold is enough
  bool takes_lowest_class = false;    ///< the class of the lowest score
  bool moves_by_other_class = false;  ///< the offset is of the lowest score's class
  bool moves_twice = false;           ///< by the class
  bool limits_again = false;          ///< to what the output has, behind `limit`
  bool shows_mask = false;            ///< the chosen rows are an output, too
  bool shows_other_boxes = false;     ///< not those that were compared
  bool changes_scores = false;        ///< arithmetic behind the Gather
  int limit = 0;                      ///< of detections, 0: as many as the output has
  int pictures = 1;                   ///< that the output's rows are put into
  int first_place = 0;                ///< of the rows in the output
  int padding_in_front = 0;           ///< values
  float padding = 0;                  ///< the value that fills up
  int most_of_class = 2147483647;     ///< NonMaxSuppression's
};

/// An input "boxes" [1, 4 + classes + more, boxes], whose boxes are edges, and the output "output0"
/// [1, detections, 6 + more].
Model model_of(const MaskedTail& tail);

/// Values for the input: boxes of `size` pixels and more, many of which overlap, and scores.
std::vector<float> random_heads(int boxes, int classes, int more, unsigned seed);
/// The same with so few scores that several classes of a box share the best one.
std::vector<float> tied_heads(int boxes, int classes, int more, unsigned seed);

}  // namespace npu::test
