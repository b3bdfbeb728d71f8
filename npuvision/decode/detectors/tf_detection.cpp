// Exports of TensorFlow's Object Detection API: boxes, classes, scores and their number, of which
// the graph has already suppressed overlaps. The registry of tensors has them as SSD MobileNet.
// https://github.com/tensorflow/models/blob/master/research/object_detection/exporter.py
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <npucore/error.hpp>

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
  bool counts_from_zero = false;  ///< by their names
};

struct Names {
  std::string_view boxes, classes, scores, count;
  bool counts_from_zero;
};

constexpr const char* kGroup = "ssd-mobilenet-v1-variant-1-out";
constexpr Names kNames[] = {
    {"detection_boxes", "detection_classes", "detection_scores", "num_detections", false},
    {"ssd-mobilenet-v1-variant-1-out-boxes", "ssd-mobilenet-v1-variant-1-out-classes",
     "ssd-mobilenet-v1-variant-1-out-scores", "generic-variant-1-out-count", false},
    {"TFLite_Detection_PostProcess", "TFLite_Detection_PostProcess:1",
     "TFLite_Detection_PostProcess:2", "TFLite_Detection_PostProcess:3", true},
    {"StatefulPartitionedCall:3", "StatefulPartitionedCall:2", "StatefulPartitionedCall:1",
     "StatefulPartitionedCall:0", true}};

// TensorFlow numbers the outputs of an operation: "detection_boxes:0".
std::optional<std::size_t> place_of(std::span<const TensorView> outputs, std::string_view name) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string_view other = outputs[i].name;
    if (other == name) return i;
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
    return Parts{*boxes, *classes, *scores, count, true, names.counts_from_zero};
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

/// `family` is that of the API, or of TensorFlow Lite.
std::optional<Parts> parts_of(const Found& found, Family family) {
  const auto named = named_parts(found.outputs);
  const bool is_told = found.card.family == family;
  if (named && (is_told || named->counts_from_zero == (family == Family::kTfliteDetection))) {
    return named;
  }
  return is_told ? shaped_parts(found.outputs) : std::nullopt;
}

template <Family family>
std::string refusal(const Found& found) {
  return parts_of(found, family) ? "" : kOtherTensors;
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
  TfDetectionDecoder(const Found& found, Family family)
      : family_(family),
        parts_(parts_of(found, family).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        labels_(found.card.labels.size()),
        first_class_(first_class(found.card.labels)) {}

  Family family() const override { return family_; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_part(std::span<const TensorView> outputs, std::size_t part,
                 std::vector<float>* to) const {
    read_all(checked_output(outputs, part, made_for_[part]), to);
  }
  std::size_t read_count(std::span<const TensorView> outputs);
  int first_class(const std::vector<std::string>& labels) const;
  std::uint32_t label_of(float model_class) const;

  Family family_;
  Parts parts_;
  std::vector<TensorView> made_for_;
  std::size_t labels_;
  int first_class_;  // the model's number of what the first label names
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
               probability(score), label_of(classes_[i]), i);
  }
  boxes_.check_shares();
  boxes_.choose(options, false);
  boxes_.give(answer);
}

/// TensorFlow Lite's classes count from zero, without the background.
int TfDetectionDecoder::first_class(const std::vector<std::string>& labels) const {
  if (labels.empty()) return 0;
  const int first = family_ == Family::kTfliteDetection || parts_.counts_from_zero ? 0 : 1;
  return names_background(labels) ? first - 1 : first;
}

std::uint32_t TfDetectionDecoder::label_of(float model_class) const {
  const std::uint32_t number = class_of(model_class, 0);
  const auto label = static_cast<std::int64_t>(number) - first_class_;
  const auto labels = static_cast<std::int64_t>(labels_);
  if (labels == 0 || (label >= 0 && label < labels)) return static_cast<std::uint32_t>(label);
  const std::string has = "the output has the class " + std::to_string(number) + ", but ";
  if (label < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                has +
                    "the first label is that of class 1: set model-family to tflite-detection "
                    "where classes count from 0, or begin labels with ??? where 0 is no class");
  }
  throw Error(ErrorCode::kInvalidArgument,
              has + "the " + std::to_string(labels_) + " labels end with that of class " +
                  std::to_string(labels - 1 + first_class_) +
                  ": give a label for each class, also for those that are not used");
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
  const auto parts = parts_of(found, Family::kTfDetection);
  if (!parts || !parts->are_named || parts->counts_from_zero || !parts->count) return;
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

template <Family family>
std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<TfDetectionDecoder>(found, family);
}

constexpr std::array kTasks{Task::kDetect};
constexpr const char* kExpects =
    "detection_boxes [1, boxes, 4], detection_classes and detection_scores [1, boxes], and "
    "num_detections [1]";

}  // namespace

const Contract kTfDetectionContract{
    Family::kTfDetection,       kTasks,      kExpects, refusal<Family::kTfDetection>,
    make<Family::kTfDetection>, name_tensors};

const Contract kTfliteDetectionContract{Family::kTfliteDetection, kTasks, kExpects,
                                        refusal<Family::kTfliteDetection>,
                                        make<Family::kTfliteDetection>};

}  // namespace npu::vision
