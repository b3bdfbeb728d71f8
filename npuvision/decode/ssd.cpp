// Single-shot detectors as OpenVINO's DetectionOutput and the Model API's exports give them. The
// graph has already suppressed overlaps.
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <npucore/error.hpp>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr int kNone = -1;

/// Outputs by their contents. kRows has everything in `boxes`.
struct Parts {
  enum class Form { kRows, kScoredBoxes, kThree } form = Form::kRows;
  int boxes = kNone, labels = kNone, scores = kNone;
};

/// Length of [N] or [1, N]; 0 for other shapes.
std::size_t length_of(const TensorView& output) {
  if (has_shape(output, {0})) return output.dims[0];
  return has_shape(output, {1, 0}) ? output.dims[1] : 0;
}

/// Number of rows of [N, values] or [1, N, values]; 0 for other shapes.
std::size_t rows_of(const TensorView& output, std::size_t values) {
  if (!is_float(output)) return 0;
  if (has_shape(output, {0, values})) return output.dims[0];
  return has_shape(output, {1, 0, values}) ? output.dims[1] : 0;
}

bool is_rows(const Found&, const TensorView& output) {
  return is_float(output) && has_shape(output, {1, 1, 0, 7});
}

bool has(std::string_view name, const char* part) {
  return name.find(part) != std::string_view::npos;
}

// Outputs with masks belong to another family: there the Model API counts labels from one.
bool has_masks(std::span<const TensorView> outputs, std::size_t boxes) {
  for (const TensorView& output : outputs) {
    const bool is_boxes = output.rank == 3 && (output.dims[2] == 4 || output.dims[2] == 5);
    if (has_shape(output, {boxes, 0, 0}) && !(boxes == 1 && is_boxes)) return true;
    if (has_shape(output, {1, boxes, 0, 0})) return true;
  }
  return false;
}

std::optional<Parts> scored_boxes(std::span<const TensorView> outputs) {
  Parts parts{Parts::Form::kScoredBoxes, kNone, kNone, kNone};
  std::size_t boxes = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (rows_of(outputs[i], 5) == 0) continue;
    if (parts.boxes != kNone) return std::nullopt;
    parts.boxes = static_cast<int>(i);
    boxes = rows_of(outputs[i], 5);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_list = is_readable(outputs[i]) && length_of(outputs[i]) == boxes;
    if (static_cast<int>(i) == parts.boxes || boxes == 0 || !is_list) continue;
    if (parts.labels != kNone) return std::nullopt;
    parts.labels = static_cast<int>(i);
  }
  if (parts.labels == kNone || has_masks(outputs, boxes)) return std::nullopt;
  return parts;
}

// Finds the outputs by the Model API's names: other families have the same shapes in other units.
std::optional<Parts> three(std::span<const TensorView> outputs) {
  Parts parts{Parts::Form::kThree, kNone, kNone, kNone};
  std::size_t boxes = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorView& output = outputs[i];
    const int at = static_cast<int>(i);
    if (has(output.name, "bboxes") && has_shape(output, {1, 0, 4}) && is_float(output)) {
      parts.boxes = at;
      boxes = output.dims[1];
    } else if (has(output.name, "labels") && is_readable(output)) {
      parts.labels = at;
    } else if (has(output.name, "scores") && is_float(output)) {
      parts.scores = at;
    }
  }
  if (parts.boxes == kNone || parts.labels == kNone || parts.scores == kNone) return std::nullopt;
  for (const int at : {parts.labels, parts.scores}) {
    if (!has_shape(outputs[static_cast<std::size_t>(at)], {1, boxes})) return std::nullopt;
  }
  return has_masks(outputs, boxes) ? std::nullopt : std::optional(parts);
}

std::optional<Parts> parts_of(const Found& found) {
  const int rows = only_output(found, is_rows);
  if (rows >= 0) return Parts{Parts::Form::kRows, rows, kNone, kNone};
  if (const auto parts = scored_boxes(found.outputs)) return parts;
  return three(found.outputs);
}

std::string refusal(const Found& found) {
  const auto parts = parts_of(found);
  if (!parts) return "has other tensors, or more than one that could be meant";
  const bool is_told = found.card.task == Task::kDetect || found.card.family == Family::kSsd;
  return is_told || parts->form != Parts::Form::kScoredBoxes
             ? ""
             : "could be other rows of five: set model-task to detect";
}

class SsdDecoder : public Decoder {
 public:
  explicit SsdDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        labels_(found.card.labels.size()),
        input_(found.input) {}

  Family family() const override { return Family::kSsd; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_part(std::span<const TensorView> outputs, int part, std::vector<float>* to) const;
  void add_rows(const npu::FrameGeometry& geometry, float threshold);
  void add_scored(float threshold);
  void add_three(const npu::FrameGeometry& geometry, float threshold);
  void add(const Edges& edges, float score, float label, std::size_t index, float threshold);

  Parts parts_;
  std::vector<TensorView> made_for_;
  std::size_t labels_;
  InputSize input_;
  std::vector<float> boxes_values_, labels_values_, scores_values_;
  Boxes boxes_;
};

Edges scaled(const float* edges, const npu::FrameGeometry& geometry) {
  const double width = geometry.model_width, height = geometry.model_height;
  return {edges[0] * width, edges[1] * height, edges[2] * width, edges[3] * height};
}

void SsdDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                        FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_part(outputs, parts_.boxes, &boxes_values_);
  read_part(outputs, parts_.labels, &labels_values_);
  read_part(outputs, parts_.scores, &scores_values_);
  boxes_.begin(geometry, frame);
  switch (parts_.form) {
    case Parts::Form::kRows:
      add_rows(geometry, options.confidence_threshold);
      break;
    case Parts::Form::kScoredBoxes:
      add_scored(options.confidence_threshold);
      break;
    case Parts::Form::kThree:
      add_three(geometry, options.confidence_threshold);
      break;
  }
  boxes_.choose(options, false);
  boxes_.give(answer);
}

void SsdDecoder::read_part(std::span<const TensorView> outputs, int part,
                           std::vector<float>* to) const {
  if (part == kNone) return;
  const auto at = static_cast<std::size_t>(part);
  check_memory(outputs[at], made_for_[at]);
  read_all(outputs[at], to);
}

// Each row has image, label, score, left, top, right and bottom; edges are 0 to 1. A negative image
// ends the list.
void SsdDecoder::add_rows(const npu::FrameGeometry& geometry, float threshold) {
  constexpr std::size_t kRow = 7;
  for (std::size_t i = 0; i * kRow < boxes_values_.size(); ++i) {
    const float* row = &boxes_values_[i * kRow];
    if (!(row[0] >= 0)) break;
    if (row[0] > 0 && row[2] >= threshold) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the output has rows of another image than the first, so it is no ssd of one "
                  "picture: set model-family, or reshape the model to a batch of 1");
    }
    add(scaled(row + 3, geometry), row[2], row[1], i, threshold);
  }
  boxes_.check_shares();
}

// Each row has left, top, right and bottom in model pixels, and the score.
void SsdDecoder::add_scored(float threshold) {
  constexpr std::size_t kRow = 5;
  for (std::size_t i = 0; i * kRow < boxes_values_.size(); ++i) {
    const float* row = &boxes_values_[i * kRow];
    add({row[0], row[1], row[2], row[3]}, row[4], labels_values_[i], i, threshold);
  }
  check_pixels(
      boxes_, input_, boxes_values_.size() / kRow,
      [&](std::size_t box, std::size_t value) { return boxes_values_[box * kRow + value]; });
}

void SsdDecoder::add_three(const npu::FrameGeometry& geometry, float threshold) {
  for (std::size_t i = 0; i < scores_values_.size(); ++i) {
    add(scaled(&boxes_values_[i * 4], geometry), scores_values_[i], labels_values_[i], i,
        threshold);
  }
  boxes_.check_shares();
}

void SsdDecoder::add(const Edges& edges, float score, float label, std::size_t index,
                     float threshold) {
  if (!(score >= threshold) || !std::isfinite(score)) return;
  boxes_.add(edges, probability(score), class_of(label, labels_), index);
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<SsdDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kSsdContract{
    Family::kSsd, kTasks,
    "[1, 1, boxes, 7], or [boxes, 5] with labels [boxes], or bboxes [1, boxes, 4] with labels and "
    "scores [1, boxes]",
    refusal, make};

}  // namespace npu::vision
