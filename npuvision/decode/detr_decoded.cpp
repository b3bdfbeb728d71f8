// Detection transformers whose graphs end with labels, boxes and scores: the authors' exports of
// RT-DETR and D-FINE. The second input, orig_target_sizes, must be the model's own width and
// height.
#include <array>
#include <cmath>

#include "boxes.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kBoxValues = 4;

struct Parts {
  int labels = -1, boxes = -1, scores = -1;
  bool are_named = false;
};

bool is_list(const TensorView& output) {
  return has_shape(output, {1, 0});
}

// Labels are the output with whole numbers, or the one with that name.
Parts parts_of(const Found& found) {
  Parts parts;
  int named = 0, labels = 0, boxes = 0, scores = 0;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    const int at = static_cast<int>(i);
    if (has_shape(output, {1, 0, kBoxValues}) && is_float(output)) {
      parts.boxes = at;
      ++boxes;
      named += output.name == "boxes" ? 1 : 0;
    } else if (is_list(output) &&
               (is_whole(output) || (is_float(output) && output.name == "labels"))) {
      parts.labels = at;
      ++labels;
      named += output.name == "labels" ? 1 : 0;
    } else if (is_list(output) && is_float(output)) {
      parts.scores = at;
      ++scores;
      named += output.name == "scores" ? 1 : 0;
    }
  }
  if (labels != 1 || boxes != 1 || scores != 1) return {};
  const auto queries = [&](int at) { return found.outputs[static_cast<std::size_t>(at)].dims[1]; };
  if (queries(parts.labels) != queries(parts.boxes)) return {};
  if (queries(parts.scores) != queries(parts.boxes)) return {};
  parts.are_named = named == 3;
  return parts;
}

std::string refusal(const Found& found) {
  const Parts parts = parts_of(found);
  if (parts.boxes < 0) return kOtherTensors;
  return parts.are_named || found.card.family == Family::kDetrDecoded
             ? ""
             : "has other names, so that its boxes could be from 0 to 1: set model-family";
}

class DetrDecodedDecoder : public Decoder {
 public:
  explicit DetrDecodedDecoder(const Found& found)
      : parts_(parts_of(found)),
        made_for_(found.outputs.begin(), found.outputs.end()),
        classes_(found.card.labels.size()),
        input_(found.input) {}

  Family family() const override { return Family::kDetrDecoded; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void read_part(std::span<const TensorView> outputs, int part, std::vector<float>* to) const;

  Parts parts_;
  std::vector<TensorView> made_for_;
  std::size_t classes_;
  InputSize input_;
  std::vector<float> labels_, edges_, scores_;
  Boxes boxes_;
};

void DetrDecodedDecoder::decode(std::span<const TensorView> outputs,
                                const npu::FrameGeometry& geometry, FrameSize frame,
                                const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_part(outputs, parts_.labels, &labels_);
  read_part(outputs, parts_.boxes, &edges_);
  read_part(outputs, parts_.scores, &scores_);
  boxes_.begin(geometry, frame);
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (!(scores_[i] >= options.confidence_threshold) || !std::isfinite(scores_[i])) continue;
    const float* box = &edges_[i * kBoxValues];
    boxes_.add({box[0], box[1], box[2], box[3]}, probability(scores_[i]),
               class_of(labels_[i], classes_), i);
  }
  check_pixels(boxes_, input_, scores_.size(), [&](std::size_t box, std::size_t value) {
    return edges_[box * kBoxValues + value];
  });
  boxes_.keep_best(options.max_objects);
  boxes_.give(answer);
}

void DetrDecodedDecoder::read_part(std::span<const TensorView> outputs, int part,
                                   std::vector<float>* to) const {
  const auto at = static_cast<std::size_t>(part);
  check_memory(outputs[at], made_for_[at]);
  read_all(outputs[at], to);
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<DetrDecodedDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kDetrDecodedContract{
    Family::kDetrDecoded, kTasks,
    "labels [1, queries], boxes [1, queries, 4] and scores [1, queries]", refusal, make};

}  // namespace npu::vision
