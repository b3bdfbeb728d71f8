// Detection transformers: a box and a score of each class for each query.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "boxes.hpp"
#include "families.hpp"
#include "masks.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kBoxValues = 4;

struct Parts {
  int logits = -1, boxes = -1;
  int masks = -1;  ///< -1: none, or not asked for
};

bool is_pair(const TensorView& logits, const TensorView& boxes) {
  return is_float(logits) && is_float(boxes) && has_shape(logits, {1, 0, 0}) &&
         has_shape(boxes, {1, logits.dims[1], kBoxValues});
}

int place_of(const Found& found, std::string_view name) {
  const auto place = named_output(found.outputs, name);
  return place ? static_cast<int>(*place) : -1;
}

// Finds the outputs by their authors' names: Hugging Face's, then RF-DETR's.
Parts by_name(const Found& found) {
  for (const Parts& parts : {Parts{place_of(found, "logits"), place_of(found, "pred_boxes")},
                             Parts{place_of(found, "labels"), place_of(found, "dets")}}) {
    if (parts.logits < 0 || parts.boxes < 0) continue;
    if (is_pair(found.outputs[static_cast<std::size_t>(parts.logits)],
                found.outputs[static_cast<std::size_t>(parts.boxes)])) {
      return parts;
    }
  }
  return {};
}

/// Finds the outputs by shape; empty where several pairs fit.
Parts by_shape(const Found& found) {
  Parts parts;
  for (std::size_t logits = 0; logits < found.outputs.size(); ++logits) {
    for (std::size_t boxes = 0; boxes < found.outputs.size(); ++boxes) {
      if (logits == boxes || !is_pair(found.outputs[logits], found.outputs[boxes])) continue;
      if (parts.logits >= 0) return {};
      parts = {static_cast<int>(logits), static_cast<int>(boxes)};
    }
  }
  return parts;
}

// Whether the model has a softmax whose last class is "no object", as the original DETR and models
// with its loss have.
bool has_softmax(const ModelCard& card) {
  if (card.multilabel) return !*card.multilabel;
  constexpr std::array kArchitectures{
      "DetrForObjectDetection", "TableTransformerForObjectDetection", "YolosForObjectDetection"};
  return std::find(kArchitectures.begin(), kArchitectures.end(), card.architecture) !=
         kArchitectures.end();
}

/// Each class of each query may be an object, but there are never more objects than queries, and
/// with these two never more than their authors take.
std::size_t most_objects(const ModelCard& card, std::size_t queries) {
  constexpr std::size_t kMostByAuthors = 100;
  const bool is_limited = card.architecture == "ConditionalDetrForObjectDetection" ||
                          card.architecture == "DeformableDetrForObjectDetection";
  return is_limited ? std::min(queries, kMostByAuthors) : queries;
}

std::size_t classes_of(const Found& found, const Parts& parts) {
  const std::size_t columns = found.outputs[static_cast<std::size_t>(parts.logits)].dims[2];
  return has_softmax(found.card) ? columns - 1 : columns;
}

bool is_rf_detr(const Found& found, const Parts& parts) {
  return found.outputs[static_cast<std::size_t>(parts.boxes)].name == "dets";
}

bool is_masks(const TensorView& output, std::size_t queries) {
  return is_float(output) && has_shape(output, {1, queries, 0, 0});
}

/// Index of RF-DETR's masks; other models make masks in other ways. -1: none, or several.
int place_of_masks(const Found& found, const Parts& parts) {
  const bool may_have = found.card.task == Task::kSegment ||
                        (found.card.task == Task::kUnknown && is_rf_detr(found, parts));
  const std::size_t queries = found.outputs[static_cast<std::size_t>(parts.boxes)].dims[1];
  int masks = -1;
  for (std::size_t i = 0; may_have && i < found.outputs.size(); ++i) {
    if (!is_masks(found.outputs[i], queries)) continue;
    if (masks >= 0) return -1;
    masks = static_cast<int>(i);
  }
  return masks;
}

Parts parts_of(const Found& found) {
  Parts parts = by_name(found);
  if (parts.logits < 0) {
    parts = by_shape(found);
  }
  if (parts.logits >= 0) {
    parts.masks = place_of_masks(found, parts);
  }
  return parts;
}

std::string refusal_of_masks(const Found& found, const Parts& parts) {
  if (found.card.task != Task::kSegment) return "";
  if (parts.masks < 0) return "has no masks, or more than one output [1, queries, rows, columns]";
  return is_rf_detr(found, parts) || found.card.family == Family::kDetr
             ? ""
             : "could have masks that are made into one: set model-family to detr where they are "
               "logits of each object";
}

std::string refusal(const Found& found) {
  const Parts parts = parts_of(found);
  if (parts.logits < 0) return "has other tensors, or more than one such pair";
  if (std::string masks = refusal_of_masks(found, parts); !masks.empty()) return masks;
  if (by_name(found).logits < 0) {
    if (found.card.family != Family::kDetr) {
      if (has_torchvision_anchors(found)) return kOtherTensors;
      return "could as well have scores and edges in pixels: set model-family to detr where boxes "
             "are centre and size from 0 to 1, and classes are logits";
    }
  }
  const std::size_t classes = classes_of(found, parts), labels = found.card.labels.size();
  if (classes == 0) return "has only the class of no object";
  // Both kinds of Hugging Face's models have the same output names, but one of them has one class
  // more than labels.
  const bool is_told = found.card.multilabel || found.card.family == Family::kDetr ||
                       has_softmax(found.card) || is_rf_detr(found, parts);
  if (labels == 0 && !is_told) {
    return "comes without labels, whose number would tell whether the last class is no object: set "
           "labels, or model-family to detr where it is an object";
  }
  if (labels == 0 || labels == classes) return "";
  return "has " + std::to_string(classes) + " classes, but there are " + std::to_string(labels) +
         " labels: give one for each, also for those that are not used";
}

class DetrDecoder : public Decoder {
 public:
  explicit DetrDecoder(const Found& found) : has_softmax_(has_softmax(found.card)) {
    const Parts parts = parts_of(found);
    if (parts.masks >= 0) {
      masks_index_ = static_cast<std::size_t>(parts.masks);
      masks_made_for_ = found.outputs[*masks_index_];
    }
    logits_index_ = static_cast<std::size_t>(parts.logits);
    boxes_index_ = static_cast<std::size_t>(parts.boxes);
    logits_made_for_ = found.outputs[logits_index_];
    boxes_made_for_ = found.outputs[boxes_index_];
    most_ = most_objects(found.card, logits_made_for_.dims[1]);
  }

  Family family() const override { return Family::kDetr; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void add_sigmoids(const npu::FrameGeometry& geometry, float threshold);
  void add_softmax(const npu::FrameGeometry& geometry, float threshold);
  void add(std::size_t query, float score, std::size_t label, const npu::FrameGeometry& geometry);

  void give_masks(const TensorView& masks, const npu::FrameGeometry& geometry, FrameSize frame,
                  Answer* answer);
  void read_planes(const TensorView& masks);
  std::span<const float> plane(std::size_t object) const;

  bool has_softmax_;
  std::size_t most_ = 0;
  std::size_t logits_index_ = 0, boxes_index_ = 0;
  TensorView logits_made_for_, boxes_made_for_;
  std::optional<std::size_t> masks_index_;
  TensorView masks_made_for_;
  std::vector<float> logits_, box_values_;
  std::vector<float> planes_;    // the objects' masks, one after the other
  std::vector<Object> regions_;  // the part of the frame for each object's mask
  Boxes boxes_;
  MaskPainter painter_;
};

void DetrDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                         FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[logits_index_], logits_made_for_);
  check_memory(outputs[boxes_index_], boxes_made_for_);
  read_all(outputs[logits_index_], &logits_);
  if (has_softmax_) {
    undo_softmax(logits_, logits_made_for_.dims[2]);
  } else {
    undo_sigmoid(logits_);
  }
  read_all(outputs[boxes_index_], &box_values_);
  if (masks_index_) {
    checked_output(outputs, *masks_index_, masks_made_for_);
  }
  boxes_.begin(geometry, frame);
  if (has_softmax_) {
    add_softmax(geometry, options.confidence_threshold);
  } else {
    add_sigmoids(geometry, options.confidence_threshold);
  }
  boxes_.check_shares();
  boxes_.keep_best(std::min(options.max_objects, most_));
  boxes_.give(answer);
  if (masks_index_) {
    give_masks(outputs[*masks_index_], geometry, frame, answer);
  }
}

// RF-DETR's authors do not cut masks at their boxes.
void DetrDecoder::give_masks(const TensorView& masks, const npu::FrameGeometry& geometry,
                             FrameSize frame, Answer* answer) {
  read_planes(masks);
  const LogitPlane size{.width = masks.dims[3], .height = masks.dims[2]};
  regions_.clear();
  for (std::size_t i = 0; i < boxes_.kept().size(); ++i) {
    // The box where nothing belongs to the object.
    regions_.push_back(
        region_of(size, plane(i), geometry, frame).value_or(boxes_.kept()[i]->object));
  }
  painter_.begin(size, geometry, frame, regions_);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    painter_.paint_of_whole(regions_[i], plane(i), answer);
  }
}

std::span<const float> DetrDecoder::plane(std::size_t object) const {
  const std::size_t size = masks_made_for_.dims[2] * masks_made_for_.dims[3];
  return std::span(planes_).subspan(object * size, size);
}

void DetrDecoder::read_planes(const TensorView& masks) {
  const std::size_t rows = masks.dims[2], columns = masks.dims[3];
  planes_.resize(boxes_.kept().size() * rows * columns);
  auto to = std::span(planes_);
  for (const Candidate* candidate : boxes_.kept()) {
    const std::size_t query = candidate->index / logits_made_for_.dims[2];
    for (std::size_t y = 0; y < rows; ++y, to = to.subspan(columns)) {
      read(masks, element(masks, {0, query, y}), masks.strides_bytes[3], to.first(columns));
    }
  }
  undo_sigmoid(planes_);
}

void DetrDecoder::add_sigmoids(const npu::FrameGeometry& geometry, float threshold) {
  const std::size_t classes = logits_made_for_.dims[2];
  constexpr float kRounding = 1e-3F, kMost = 0.999F;  // a float's sigmoid may round to 1
  const float least = logit(std::clamp(threshold, 0.0F, kMost)) - kRounding;
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    if (!(logits_[i] >= least) || !std::isfinite(logits_[i])) continue;
    const float score = sigmoid(logits_[i]);
    if (score >= threshold) {
      add(i / classes, score, i % classes, geometry);
    }
  }
}

// Takes the best class of each query, "no object" aside.
void DetrDecoder::add_softmax(const npu::FrameGeometry& geometry, float threshold) {
  const std::size_t columns = logits_made_for_.dims[2];
  for (std::size_t query = 0; query < logits_made_for_.dims[1]; ++query) {
    const auto row = std::span(logits_).subspan(query * columns, columns);
    if (!are_finite(row)) continue;
    const auto best = std::max_element(row.begin(), row.end() - 1);
    const float largest = std::max(*best, row.back());
    double sum = 0;
    for (const float value : row) sum += std::exp(static_cast<double>(value) - largest);
    const auto score = static_cast<float>(std::exp(static_cast<double>(*best) - largest) / sum);
    if (score >= threshold) {
      add(query, score, static_cast<std::size_t>(best - row.begin()), geometry);
    }
  }
}

// A query's box is its centre and size, 0 to 1.
void DetrDecoder::add(std::size_t query, float score, std::size_t label,
                      const npu::FrameGeometry& geometry) {
  const float* box = &box_values_[query * kBoxValues];
  const double width = geometry.model_width, height = geometry.model_height;
  const double half_width = box[2] / 2.0, half_height = box[3] / 2.0;
  boxes_.add({(box[0] - half_width) * width, (box[1] - half_height) * height,
              (box[0] + half_width) * width, (box[1] + half_height) * height},
             score, static_cast<std::uint32_t>(label), query * logits_made_for_.dims[2] + label);
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<DetrDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect, Task::kSegment};

}  // namespace

const Contract kDetrContract{Family::kDetr, kTasks,
                             "logits [1, queries, classes] and boxes [1, queries, 4], with masks "
                             "[1, queries, rows, columns]",
                             refusal, make};

}  // namespace npu::vision
