// Does the last step of a detector, which was cut off its graph: chooses the boxes that TopK or an
// operator of non-maximum suppression would have chosen.
#include <algorithm>
#include <cmath>
#include <utility>

#include "../suppression.hpp"

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

/// The step that was cut off, by the card's name for it.
enum class Step { kTopK, kNms, kNmsBestClass, kMulticlassNms, kMatrixNms };

Step step_of(const std::string& name) {
  if (name == "nms") return Step::kNms;
  if (name == "multiclass-nms") return Step::kMulticlassNms;
  if (name == "matrix-nms") return Step::kMatrixNms;
  return name == "nms-best-class" ? Step::kNmsBestClass : Step::kTopK;
}

Suppression suppression_of(const ModelCard& card) {
  Suppression options{.most = card.host_detections,
                      .margin = card.host_box_margin.value_or(0),
                      .is_class_agnostic = card.host_postprocess == "nms-best-class",
                      .iou_threshold = card.host_iou_threshold.value_or(1)};
  if (card.host_class_candidates > 0) {
    options.most_of_class = card.host_class_candidates;
  }
  return options;
}

class YoloHostDecoder : public HeadDecoder {
 public:
  YoloHostDecoder(const YoloHead& head, const Found& found)
      : HeadDecoder(head, found),
        labels_(found.card.labels.size()),
        most_(found.card.host_detections),
        step_(step_of(found.card.host_postprocess)),
        decay_{.limits = suppression_of(found.card),
               .gaussian_sigma = found.card.host_gaussian_sigma,
               .lowest = found.card.host_lowest_score.value_or(0)},
        background_(found.card.host_background),
        score_threshold_(found.card.host_score_threshold.value_or(0)),
        box_scale_(found.card.host_box_scale.value_or(1)),
        class_offset_(found.card.host_class_offset.value_or(0)) {}
  Family family() const override { return Family::kYoloEndToEnd; }

 protected:
  void collect(const BoxRows& rows, float threshold) override;
  void choose(Boxes& boxes, const DecodeOptions& options) const override {
    boxes.keep_best(std::min(options.max_objects, most_));
  }

 private:
  bool is_candidate(float score, std::uint32_t label) const;
  void find(const BoxRows& rows, std::size_t box, float threshold);
  void find_best_class(std::size_t box, float score, std::uint32_t label);
  Corners corners_of(const BoxRows& rows, const Detection& one) const;
  void suppress(const BoxRows& rows);
  void keep_best();

  std::size_t labels_, most_;
  Step step_;
  // Settings of the graph's step:
  Decay decay_;
  std::optional<std::uint32_t> background_;
  float score_threshold_, box_scale_, class_offset_;
  BestScores best_;
  Suppressor suppressor_;
  std::vector<Detection> found_;
};

void YoloHostDecoder::collect(const BoxRows& rows, float threshold) {
  found_.clear();
  for (std::size_t first = 0; first < rows.boxes; first += BestScores::kBlock) {
    const std::size_t count = std::min(BestScores::kBlock, rows.boxes - first);
    best_.find(rows, first, count, YoloHead::kBoxValues, head().classes);
    for (std::size_t i = 0; i < count; ++i) {
      if (!(best_.score[i] >= threshold)) continue;
      if (step_ == Step::kNmsBestClass) {
        find_best_class(first + i, best_.score[i], best_.label[i]);
      } else {
        find(rows, first + i, threshold);
      }
    }
  }
  // Invalid boxes and boxes outside the frame come too: in the graph they also took places.
  if (step_ == Step::kTopK) {
    keep_best();
  } else {
    suppress(rows);
  }
  for (const Detection& one : found_) {
    if (!(one.score >= threshold)) continue;  // its score has decayed
    const std::uint32_t label = class_of(static_cast<float>(one.label), labels_);
    if (head().task == Task::kOriented) {
      add_centered(rows, one.box, probability(one.score), label);
    } else {
      add_edges(rows, one.box, probability(one.score), label);
    }
  }
}

/// MulticlassNms takes scores equal to its threshold; the other steps do not.
bool YoloHostDecoder::is_candidate(float score, std::uint32_t label) const {
  if (!std::isfinite(score) || label == background_) return false;
  if (step_ == Step::kTopK) return true;
  return score > score_threshold_ || (step_ == Step::kMulticlassNms && score == score_threshold_);
}

void YoloHostDecoder::find(const BoxRows& rows, std::size_t box, float threshold) {
  for (std::uint32_t label = 0; label < head().classes; ++label) {
    const float score = rows.at(box, YoloHead::kBoxValues + label);
    if (!(score >= threshold) || !is_candidate(score, label)) continue;
    found_.push_back({score, static_cast<std::uint32_t>(box), label});
  }
}

void YoloHostDecoder::find_best_class(std::size_t box, float score, std::uint32_t label) {
  if (!is_candidate(score, label)) return;
  found_.push_back({score, static_cast<std::uint32_t>(box), label});
}

/// NonMaxSuppression takes corners in any order. For "nms-best-class" boxes are scaled, and each
/// class is moved away from the others.
Corners YoloHostDecoder::corners_of(const BoxRows& rows, const Detection& one) const {
  Corners corners{};
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i] = rows.at(one.box, i);
  if (step_ != Step::kNms && step_ != Step::kNmsBestClass) return corners;
  if (corners[2] < corners[0]) {
    std::swap(corners[0], corners[2]);
  }
  if (corners[3] < corners[1]) {
    std::swap(corners[1], corners[3]);
  }
  if (step_ == Step::kNms) return corners;
  const float move = static_cast<float>(one.label) * class_offset_;
  for (float& edge : corners) edge = edge * box_scale_ + move;
  return corners;
}

void YoloHostDecoder::suppress(const BoxRows& rows) {
  suppressor_.begin();
  for (const Detection& one : found_) suppressor_.add(corners_of(rows, one));
  if (step_ == Step::kMatrixNms) {
    suppressor_.decay(&found_, decay_);
  } else {
    suppressor_.suppress(&found_, decay_.limits);
  }
}

void YoloHostDecoder::keep_best() {
  if (found_.size() <= most_) return;
  const auto end = found_.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(found_.begin(), end, found_.end(), is_better);
  found_.erase(end, found_.end());
}

}  // namespace

std::unique_ptr<Decoder> make_host_decoder(const YoloHead& head, const Found& found) {
  return std::make_unique<YoloHostDecoder>(head, found);
}

}  // namespace npu::vision
