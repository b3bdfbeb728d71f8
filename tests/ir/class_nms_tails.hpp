#pragma once

#include <npucore/model.hpp>

namespace npu::test {

/// The end of a detector by MulticlassNms or MatrixNms, as OpenVINO reads them from PaddlePaddle's
/// files, and how it may differ.
struct ClassTail {
  enum class Sort { kByClass, kByScore, kNone };

  bool is_matrix = false;
  int classes = 3, boxes = 60;
  int candidates = -1;  ///< of a class; -1: all
  int detections = 20;  ///< -1: all
  int background = -1;
  float iou = 0.45F, score = 0.25F;
  bool is_normalized = true;  ///< else corners are pixels that belong to the box
  Sort sort = Sort::kByClass;
  bool is_gaussian = false;  ///< MatrixNms' decay
  float sigma = 2, lowest = 0.1F;
  bool are_scores_by_class = false;  ///< their tensor is no transposed one
  bool has_long_numbers = false;     ///< of places, 64 bits
  bool shows_counts = true;          ///< places and number are outputs, too
  // Almost such a tail, but none:
  float eta = 1;                 ///< by which the threshold falls
  bool has_rows_of_all = false;  ///< a third input: how many rows a picture has
  bool shows_features = false;   ///< an output is taken by the places
  bool changes_rows = false;     ///< arithmetic behind
  bool has_whole_rows = false;   ///< converted to whole numbers
};

/// An input "boxes" [1, 4 + classes, boxes], whose boxes are edges, and the output "output0":
/// class, score, left, top, right, bottom of each.
Model model_of(const ClassTail& tail);

}  // namespace npu::test
