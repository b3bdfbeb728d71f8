// RT-DETR of Ultralytics: boxes by centre and size, from 0 to 1 of the picture, of which the model
// drops none.
// https://github.com/ultralytics/ultralytics/blob/main/ultralytics/models/rtdetr/predict.py
#include <algorithm>
#include <array>
#include <cmath>

#include "../boxes.hpp"
#include "../families.hpp"

#include "rows.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kBoxValues = 4, kScore = kBoxValues, kClass = kScore + 1;
constexpr std::size_t kChosenValues = kBoxValues + 2;

bool fits(const TensorView& output) {
  return is_float(output) && has_shape(output, {1, 0, 0}) && output.dims[2] > kBoxValues;
}

/// Rows hold a score and a class; rows of older exports hold a score for each class.
bool has_chosen(const Found& found, const TensorView& output) {
  const ModelCard& card = found.card;
  if (!card.host_postprocess.empty() || output.dims[2] != kChosenValues) return false;
  return card.end_to_end.value_or(card.labels.size() != kChosenValues - kBoxValues);
}

std::string refusal(const Found& found) {
  const ModelCard& card = found.card;
  if (found.outputs.size() != 1 || !fits(found.outputs[0])) return kOtherTensors;
  const TensorView& output = found.outputs[0];
  if (card.family != Family::kRtDetr) {
    return output.dims[2] == kChosenValues ? "is not said to be an RT-DETR: set model-family"
                                           : kOtherTensors;
  }
  const std::size_t classes = output.dims[2] - kBoxValues;
  if (output.dims[2] == kChosenValues && card.labels.size() == classes && !card.end_to_end &&
      card.host_postprocess.empty()) {
    return "may have a score for each of 2 classes, or a score and a class: set tensor-layout to "
           "boxes-first or end-to-end";
  }
  if (card.host_postprocess.empty()) {
    if (has_chosen(found, output) || card.labels.empty() || card.labels.size() == classes) {
      return "";
    }
  } else if (card.host_postprocess == "topk" && card.host_classes == classes) {
    return "";
  }
  return "has " + std::to_string(output.dims[2]) + " values per box, which is neither 6 nor 4 + " +
         std::to_string(card.host_postprocess.empty() ? card.labels.size() : card.host_classes) +
         " classes";
}

class RtDetrDecoder : public Decoder {
 public:
  explicit RtDetrDecoder(const Found& found)
      : made_for_(found.outputs[0]),
        labels_(found.card.labels.size()),
        are_chosen_(has_chosen(found, made_for_)),
        most_(found.card.host_postprocess.empty() ? 0 : found.card.host_detections) {}

  Family family() const override { return Family::kRtDetr; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override {
    answer->clear();
    const BoxRows rows = rows_of(checked_output(outputs, 0, made_for_), false);
    boxes_.begin(geometry, frame);
    for (std::size_t box = 0; box < rows.boxes; ++box) {
      collect(rows, box, geometry, options.confidence_threshold);
    }
    boxes_.check_shares();
    boxes_.keep_best(most_ > 0 ? std::min(options.max_objects, most_) : options.max_objects);
    boxes_.give(answer);
  }

 private:
  void collect(const BoxRows& rows, std::size_t box, const npu::FrameGeometry& geometry,
               float threshold) {
    if (are_chosen_) {
      add(rows, box, rows.at(box, kScore), rows.at(box, kClass), geometry, threshold);
    } else if (most_ == 0) {
      const BestScore best = best_score(rows, box, kScore, rows.values - kBoxValues);
      add(rows, box, best.score, static_cast<float>(best.label), geometry, threshold);
    } else {
      for (std::size_t value = kScore; value < rows.values; ++value) {
        add(rows, box, rows.at(box, value), static_cast<float>(value - kScore), geometry,
            threshold);
      }
    }
  }

  void add(const BoxRows& rows, std::size_t box, float score, float label,
           const npu::FrameGeometry& geometry, float threshold) {
    if (!(score >= threshold) || !std::isfinite(score)) return;
    const double width = geometry.model_width, height = geometry.model_height;
    const double x = rows.at(box, 0), half_width = rows.at(box, 2) / 2.0;
    const double y = rows.at(box, 1), half_height = rows.at(box, 3) / 2.0;
    boxes_.add({(x - half_width) * width, (y - half_height) * height, (x + half_width) * width,
                (y + half_height) * height},
               probability(score), class_of(label, labels_), box);
  }

  TensorView made_for_;
  std::size_t labels_;
  bool are_chosen_;
  std::size_t most_;  ///< of a step that was cut off the graph; 0: none was
  Boxes boxes_;
};

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<RtDetrDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kRtDetrContract{
    Family::kRtDetr, kTasks,
    "[1, boxes, 6] or [1, boxes, 4 + classes], boxes by centre and size from 0 to 1", refusal,
    make};

}  // namespace npu::vision
