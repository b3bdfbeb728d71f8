// torchvision's SSD, SSDlite, RetinaNet and FCOS, exported without their post-processing: what the
// heads say of each anchor.
// https://github.com/pytorch/vision/tree/main/torchvision/models/detection
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "../boxes.hpp"
#include "../families.hpp"
#include "../values.hpp"

#include "torchvision_anchors.hpp"

namespace npu::vision {
namespace {

/// How a form's scores and boxes are coded.
struct Coding {
  const char* name;
  double place, size;      ///< weights of the box coder
  std::size_t candidates;  ///< most of a class, or else of a level
  TorchvisionForm form;
  bool has_background;  ///< a softmax with class 0 for none; else a sigmoid for each class
};

constexpr Coding kCodings[] = {{"SSD300", 10, 5, 400, TorchvisionForm::kSsd, true},
                               {"SSDlite", 10, 5, 300, TorchvisionForm::kSsdLite, true},
                               {"RetinaNet", 1, 1, 1000, TorchvisionForm::kRetinaNet, false},
                               {"FCOS", 1, 1, 1000, TorchvisionForm::kFcos, false}};

/// Indices of outputs; `centerness` is FCOS' alone.
struct Parts {
  std::size_t boxes = 0, logits = 0;
  std::optional<std::size_t> centerness;
};

bool has_anchors(const TensorView& output, std::size_t anchors, std::size_t values) {
  return is_float(output) && has_shape(output, {1, anchors, values});
}

std::optional<Parts> named_parts(std::span<const TensorView> outputs) {
  const auto boxes = named_output(outputs, "bbox_regression"),
             logits = named_output(outputs, "cls_logits");
  if (!boxes || !logits || !has_anchors(outputs[*boxes], 0, 4)) return std::nullopt;
  const std::size_t anchors = outputs[*boxes].dims[1];
  const auto centerness = named_output(outputs, "bbox_ctrness");
  const bool fits = has_anchors(outputs[*logits], anchors, 0) &&
                    (!centerness || has_anchors(outputs[*centerness], anchors, 1));
  return fits ? std::optional(Parts{*boxes, *logits, centerness}) : std::nullopt;
}

/// Sorts them by the values of an anchor. Nullopt where two could be the same part.
std::optional<Parts> shaped_parts(std::span<const TensorView> outputs) {
  if (outputs.size() != 2 && outputs.size() != 3) return std::nullopt;
  std::vector<std::size_t> boxes, logits, centerness;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!has_anchors(outputs[i], outputs[0].dims[1], 0)) return std::nullopt;
    const std::size_t values = outputs[i].dims[2];
    const bool is_centerness = values == 1 && outputs.size() == 3;
    (values == 4 ? boxes : is_centerness ? centerness : logits).push_back(i);
  }
  if (boxes.size() != 1 || logits.size() != 1) return std::nullopt;
  return Parts{boxes[0], logits[0],
               centerness.empty() ? std::nullopt : std::optional(centerness[0])};
}

std::optional<Parts> parts_of(const Found& found) {
  const auto parts = named_parts(found.outputs);
  if (parts || found.card.family != Family::kTorchvision) return parts;
  return shaped_parts(found.outputs);
}

std::size_t count_of(const std::vector<AnchorLevel>& levels) {
  std::size_t count = 0;
  for (const AnchorLevel& level : levels) count += level.size();
  return count;
}

/// The form with as many anchors; their numbers differ for every size of input.
const Coding* coding_of(const Found& found, const Parts& parts) {
  for (const Coding& coding : kCodings) {
    if ((coding.form == TorchvisionForm::kFcos) != parts.centerness.has_value()) continue;
    const std::size_t anchors = count_of(torchvision_anchors(coding.form, found.input));
    if (anchors == found.outputs[parts.boxes].dims[1]) return &coding;
  }
  return nullptr;
}

std::string refusal_of_labels(const Found& found, const Parts& parts) {
  const std::size_t classes = found.outputs[parts.logits].dims[2];
  const std::size_t labels = found.card.labels.size();
  if (labels == 0 || labels == classes) return "";
  return "has " + std::to_string(classes) + " classes, but there are " + std::to_string(labels) +
         " labels: give one for each, also for those that are not used and for the background";
}

std::string refusal(const Found& found) {
  const auto parts = parts_of(found), shaped = parts ? parts : shaped_parts(found.outputs);
  if (!shaped) return kOtherTensors;
  const Coding* coding = coding_of(found, *shaped);
  if (!parts && coding == nullptr) return kOtherTensors;
  const std::string anchors = std::to_string(found.outputs[shaped->boxes].dims[1]) + " anchors, ",
                    input = " for an input of " + std::to_string(found.input.width) + "x" +
                            std::to_string(found.input.height);
  if (coding == nullptr) {
    return "has " + anchors + "which none of SSD300, SSDlite, RetinaNet and FCOS has" + input;
  }
  std::string labels = refusal_of_labels(found, *shaped);
  if (parts) return labels;
  return "has " + anchors + "as " + coding->name + " has" + input +
         ", but other names: set model-family to torchvision" +
         (labels.empty() ? "" : "; it " + labels);
}

struct Scored {
  float score = 0;
  std::uint32_t group = 0;  ///< the class, or the level
  std::uint32_t anchor = 0, label = 0;
};

class TorchvisionDecoder : public Decoder {
 public:
  explicit TorchvisionDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        coding_(*coding_of(found, parts_)),
        made_for_(found.outputs.begin(), found.outputs.end()),
        levels_(torchvision_anchors(coding_.form, found.input)),
        classes_(made_for_[parts_.logits].dims[2]) {}

  Family family() const override { return Family::kTorchvision; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read(std::span<const TensorView> outputs);
  void collect(float threshold);
  void add_by_softmax(std::size_t anchor, float threshold);
  void add_by_sigmoid(std::size_t anchor, std::size_t level, float threshold);
  void keep_candidates();
  Edges edges_of(const Anchor& anchor, const float* code) const;
  void add_boxes(const Edges& picture);

  std::span<const float> logits_of(std::size_t anchor) const {
    return std::span(logits_).subspan(anchor * classes_, classes_);
  }

  Parts parts_;
  Coding coding_;
  std::vector<TensorView> made_for_;
  std::vector<AnchorLevel> levels_;
  std::size_t classes_;
  std::vector<float> codes_, logits_, centerness_;
  std::vector<Scored> scored_;
  Boxes boxes_;
};

/// The frame's part of the model's input.
Edges picture_of(const npu::FrameGeometry& geometry, FrameSize frame) {
  const double right = geometry.offset_x + frame.width / geometry.scale_x;
  const double bottom = geometry.offset_y + frame.height / geometry.scale_y;
  return {std::max(0.0, geometry.offset_x), std::max(0.0, geometry.offset_y),
          std::min<double>(geometry.model_width, right),
          std::min<double>(geometry.model_height, bottom)};
}

void TorchvisionDecoder::decode(std::span<const TensorView> outputs,
                                const npu::FrameGeometry& geometry, FrameSize frame,
                                const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read(outputs);
  collect(options.confidence_threshold);
  keep_candidates();
  boxes_.begin(geometry, frame);
  add_boxes(picture_of(geometry, frame));
  boxes_.choose(options, true);
  boxes_.give(answer);
}

void TorchvisionDecoder::read(std::span<const TensorView> outputs) {
  read_all(checked_output(outputs, parts_.boxes, made_for_[parts_.boxes]), &codes_);
  read_all(checked_output(outputs, parts_.logits, made_for_[parts_.logits]), &logits_);
  if (coding_.has_background) {
    undo_softmax(logits_, classes_);
  } else {
    undo_sigmoid(logits_);
  }
  if (!parts_.centerness) return;
  read_all(checked_output(outputs, *parts_.centerness, made_for_[*parts_.centerness]),
           &centerness_);
  undo_sigmoid(centerness_);
}

void TorchvisionDecoder::collect(float threshold) {
  scored_.clear();
  std::size_t anchor = 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const std::size_t end = anchor + levels_[level].size(); anchor < end; ++anchor) {
      if (coding_.has_background) {
        add_by_softmax(anchor, threshold);
      } else {
        add_by_sigmoid(anchor, level, threshold);
      }
    }
  }
}

void TorchvisionDecoder::add_by_softmax(std::size_t anchor, float threshold) {
  const auto logits = logits_of(anchor);
  const float best = logits.size() > 1 ? *std::max_element(logits.begin() + 1, logits.end()) : 0;
  // No class is likelier than if there were only that one and the background. Rounding may differ.
  constexpr float kRounding = 1e-4F;
  if (!(sigmoid(best - logits[0]) >= threshold - kRounding) || !are_finite(logits)) return;
  const float highest = std::max(best, logits[0]);
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  for (std::uint32_t label = 1; label < logits.size(); ++label) {
    const float score = std::exp(logits[label] - highest) / sum;
    if (!(score >= threshold)) continue;
    scored_.push_back({score, label, static_cast<std::uint32_t>(anchor), label});
  }
}

void TorchvisionDecoder::add_by_sigmoid(std::size_t anchor, std::size_t level, float threshold) {
  const float weight = parts_.centerness ? sigmoid(centerness_[anchor]) : 1;
  const auto logits = logits_of(anchor);
  for (std::uint32_t label = 0; label < logits.size(); ++label) {
    float score = sigmoid(logits[label]);
    if (parts_.centerness) {
      score = std::sqrt(score * weight);
    }
    if (!(score >= threshold) || !std::isfinite(logits[label])) continue;
    scored_.push_back(
        {score, static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(anchor), label});
  }
}

/// Drops all but the best of each group.
void TorchvisionDecoder::keep_candidates() {
  if (scored_.size() <= coding_.candidates) return;
  std::sort(scored_.begin(), scored_.end(), [](const Scored& a, const Scored& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.score != b.score) return a.score > b.score;
    return a.anchor != b.anchor ? a.anchor < b.anchor : a.label < b.label;
  });
  std::size_t kept = 0, begin = 0;  // begin: of a group
  for (std::size_t i = 0; i < scored_.size(); ++i) {
    if (scored_[i].group != scored_[begin].group) {
      begin = i;
    }
    if (i - begin < coding_.candidates) {
      scored_[kept++] = scored_[i];
    }
  }
  scored_.resize(kept);
}

Edges TorchvisionDecoder::edges_of(const Anchor& anchor, const float* code) const {
  const auto value = [code](std::size_t i) { return static_cast<double>(code[i]); };
  if (coding_.form == TorchvisionForm::kFcos) {  // distances of the edges, in sizes of the anchor
    return {anchor.x - value(0) * anchor.width, anchor.y - value(1) * anchor.height,
            anchor.x + value(2) * anchor.width, anchor.y + value(3) * anchor.height};
  }
  static const double kMostGrowth = std::log(1000.0 / 16);
  const double x = anchor.x + value(0) / coding_.place * anchor.width;
  const double y = anchor.y + value(1) / coding_.place * anchor.height;
  const double width = std::exp(std::min(value(2) / coding_.size, kMostGrowth)) * anchor.width;
  const double height = std::exp(std::min(value(3) / coding_.size, kMostGrowth)) * anchor.height;
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

// Boxes end at the picture's edges before overlaps are suppressed.
void TorchvisionDecoder::add_boxes(const Edges& picture) {
  const auto within = [&](double edge, std::size_t side) {
    return std::min(std::max(edge, picture.at(side)), picture.at(side + 2));
  };
  for (const Scored& one : scored_) {
    const float* code = &codes_[std::size_t{one.anchor} * 4];
    if (!are_finite(std::span(code, 4))) continue;
    std::size_t index = one.anchor, level = 0;
    while (index >= levels_[level].size()) index -= levels_[level++].size();
    const Edges edges = edges_of(levels_[level].at(index), code);
    boxes_.add({within(edges[0], 0), within(edges[1], 1), within(edges[2], 0), within(edges[3], 1)},
               probability(one.score), one.label, one.anchor * classes_ + one.label);
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<TorchvisionDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

bool has_torchvision_anchors(const Found& found) {
  const auto parts = shaped_parts(found.outputs);
  return parts && coding_of(found, *parts) != nullptr;
}

const Contract kTorchvisionContract{
    Family::kTorchvision, kTasks,
    "bbox_regression [1, anchors, 4] and cls_logits [1, anchors, classes], for FCOS with "
    "bbox_ctrness [1, anchors, 1]",
    refusal, make};

}  // namespace npu::vision
