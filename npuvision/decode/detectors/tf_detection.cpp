// Exports of TensorFlow's Object Detection API: boxes, classes, scores and their number, of which
// the graph has already suppressed overlaps. The registry of tensors has them as SSD MobileNet.
// https://github.com/tensorflow/models/blob/master/research/object_detection/exporter.py
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "../boxes.hpp"
#include "../families.hpp"
#include "../values.hpp"

namespace npu::vision {
namespace {

/// Indices of outputs.
struct Parts {
  std::size_t boxes = 0, classes = 0, scores = 0;
  std::optional<std::size_t> count;
  bool are_named = true;
};

struct Names {
  std::string_view boxes, classes, scores, count;
};

constexpr const char* kGroup = "ssd-mobilenet-v1-variant-1-out";
constexpr Names kNames[] = {
    {"detection_boxes", "detection_classes", "detection_scores", "num_detections"},
    {"ssd-mobilenet-v1-variant-1-out-boxes", "ssd-mobilenet-v1-variant-1-out-classes",
     "ssd-mobilenet-v1-variant-1-out-scores", "generic-variant-1-out-count"}};

// TensorFlow numbers the outputs of an operation: "detection_boxes:0".
std::optional<std::size_t> place_of(std::span<const TensorView> outputs, std::string_view name) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string_view other = outputs[i].name;
    if (other.ends_with(":0")) {
      other.remove_suffix(2);
    }
    if (other == name) return i;
  }
  return std::nullopt;
}

bool is_number(const TensorView& output) {
  return is_readable(output) && (has_shape(output, {1}) || has_shape(output, {1, 1}));
}

bool is_list(const TensorView& output, std::size_t boxes) {
  return is_readable(output) && has_shape(output, {1, boxes});
}

bool is_boxes(const TensorView& output) {
  return is_float(output) && has_shape(output, {1, 0, 4});
}

std::optional<Parts> named_parts(std::span<const TensorView> outputs) {
  for (const Names& names : kNames) {
    const auto boxes = place_of(outputs, names.boxes), classes = place_of(outputs, names.classes),
               scores = place_of(outputs, names.scores), count = place_of(outputs, names.count);
    if (!boxes || !classes || !scores || !is_boxes(outputs[*boxes])) continue;
    const std::size_t length = outputs[*boxes].dims[1];
    if (!is_list(outputs[*classes], length) || !is_list(outputs[*scores], length)) continue;
    if (!is_float(outputs[*scores]) || (count && !is_number(outputs[*count]))) continue;
    return Parts{*boxes, *classes, *scores, count};
  }
  return std::nullopt;
}

/// Boxes with two lists of their length, in the exporters' order: classes, then scores; and a
/// number.
std::optional<Parts> parts_beside(std::span<const TensorView> outputs, std::size_t boxes) {
  std::vector<std::size_t> lists, numbers;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (is_list(outputs[i], outputs[boxes].dims[1])) {
      lists.push_back(i);
    } else if (is_number(outputs[i])) {
      numbers.push_back(i);
    }
  }
  if (lists.size() != 2 || numbers.size() != 1) return std::nullopt;
  if (!is_float(outputs[lists[1]])) {
    std::swap(lists[0], lists[1]);
  }
  if (!is_float(outputs[lists[1]])) return std::nullopt;
  return Parts{boxes, lists[0], lists[1], numbers[0], false};
}

std::optional<Parts> shaped_parts(std::span<const TensorView> outputs) {
  std::optional<Parts> only;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_boxes(outputs[i])) continue;
    const auto parts = parts_beside(outputs, i);
    if (parts && only) return std::nullopt;
    only = parts ? parts : only;
  }
  return only;
}

std::optional<Parts> parts_of(const Found& found) {
  const auto named = named_parts(found.outputs);
  if (named || found.card.family != Family::kTfDetection) return named;
  return shaped_parts(found.outputs);
}

std::string refusal(const Found& found) {
  return parts_of(found) ? "" : kOtherTensors;
}

/// Label maps of the API count from one. Lists for other tools begin with a name for 0.
bool names_background(const std::vector<std::string>& labels) {
  if (labels.empty()) return false;
  std::string first = labels.front();
  std::transform(first.begin(), first.end(), first.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 8> kBackground{
      "", "background", "__background__", "???", "unlabeled", "bg", "none", "n/a"};
  return std::find(kBackground.begin(), kBackground.end(), first) != kBackground.end();
}

bool has_fractions(std::span<const float> values) {
  return std::any_of(values.begin(), values.end(),
                     [](float value) { return value != std::floor(value); });
}

class TfDetectionDecoder : public Decoder {
 public:
  explicit TfDetectionDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        labels_(found.card.labels.size()),
        first_class_(labels_ > 0 && !names_background(found.card.labels) ? 1 : 0) {}

  Family family() const override { return Family::kTfDetection; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_part(std::span<const TensorView> outputs, std::size_t part,
                 std::vector<float>* to) const {
    read_all(checked_output(outputs, part, made_for_[part]), to);
  }
  std::size_t read_count(std::span<const TensorView> outputs);

  Parts parts_;
  std::vector<TensorView> made_for_;
  std::size_t labels_;
  float first_class_;  // of the model, for the first label
  std::vector<float> boxes_values_, classes_, scores_, count_;
  Boxes boxes_;
};

void TfDetectionDecoder::decode(std::span<const TensorView> outputs,
                                const npu::FrameGeometry& geometry, FrameSize frame,
                                const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_part(outputs, parts_.boxes, &boxes_values_);
  read_part(outputs, parts_.classes, &classes_);
  read_part(outputs, parts_.scores, &scores_);
  const std::size_t count = read_count(outputs);
  // Converters to TensorFlow Lite change the order, but classes are whole numbers.
  if (!parts_.are_named && has_fractions(std::span(classes_).first(count)) &&
      !has_fractions(std::span(scores_).first(count))) {
    std::swap(classes_, scores_);
  }
  boxes_.begin(geometry, frame);
  const double width = geometry.model_width, height = geometry.model_height;
  for (std::size_t i = 0; i < count; ++i) {
    const float score = scores_[i];
    if (!(score >= options.confidence_threshold) || !std::isfinite(score)) continue;
    const float* box = &boxes_values_[i * 4];  // top, left, bottom, right
    boxes_.add({box[1] * width, box[0] * height, box[3] * width, box[2] * height},
               probability(score), class_of(classes_[i] - first_class_, labels_), i);
  }
  boxes_.check_shares();
  boxes_.choose(options, false);
  boxes_.give(answer);
}

/// How many of the rows are detections; all of them where the model does not say.
std::size_t TfDetectionDecoder::read_count(std::span<const TensorView> outputs) {
  const std::size_t rows = scores_.size();
  if (!parts_.count) return rows;
  read_part(outputs, *parts_.count, &count_);
  const float count = count_.front();
  if (!std::isfinite(count)) return 0;
  if (count < 0 || count != std::floor(count)) {
    refuse_value("number", count, "number of detections");
  }
  return std::min(rows, static_cast<std::size_t>(std::min(count, 1e6F)));
}

// ssdtensordec takes a label's line for its class, from 0 on, and knows no letterbox.
void name_tensors(const Found& found, TensorGroup* group) {
  const auto parts = parts_of(found);
  if (!parts || !parts->are_named || !parts->count) return;
  const auto has_type = [&](std::size_t index) {
    return found.outputs[index].type == ElementType::kF32;
  };
  const bool fits = has_type(parts->boxes) && has_type(parts->classes) && has_type(parts->scores) &&
                    has_type(*parts->count) && has_shape(found.outputs[*parts->count], {1});
  if (!fits) return;
  group->id = kGroup;
  group->outputs[parts->boxes] = {std::string(kNames[1].boxes), false};
  group->outputs[parts->classes] = {std::string(kNames[1].classes), false};
  group->outputs[parts->scores] = {std::string(kNames[1].scores), false};
  group->outputs[*parts->count] = {std::string(kNames[1].count), false};
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<TfDetectionDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kTfDetectionContract{
    Family::kTfDetection,
    kTasks,
    "detection_boxes [1, boxes, 4], detection_classes and detection_scores [1, boxes], and "
    "num_detections [1]",
    refusal,
    make,
    name_tensors};

}  // namespace npu::vision
