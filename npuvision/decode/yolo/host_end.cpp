// The end of YOLOv10, YOLO26 and exports with nms=True that was cut off the graph: what TopK or
// NonMaxSuppression would have chosen there.
#include <algorithm>
#include <cmath>

#include "../suppression.hpp"

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

/// What the graph would have done, by the card's name for it.
enum class Step { kTopK, kNms, kNmsBestClass };

Step step_of(const std::string& name) {
  if (name == "nms") return Step::kNms;
  return name == "nms-best-class" ? Step::kNmsBestClass : Step::kTopK;
}

class YoloHostDecoder : public HeadDecoder {
 public:
  YoloHostDecoder(const YoloHead& head, const Found& found)
      : HeadDecoder(head, found),
        labels_(found.card.labels.size()),
        most_(found.card.host_detections),
        step_(step_of(found.card.host_postprocess)),
        iou_threshold_(found.card.host_iou_threshold.value_or(1)),
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
  void find(const BoxRows& rows, std::size_t box, float threshold);
  void find_best_class(std::size_t box, float score, std::uint32_t label);
  Corners corners_of(const BoxRows& rows, const Detection& one) const;
  void suppress(const BoxRows& rows);
  void keep_best();

  std::size_t labels_, most_;
  Step step_;
  float iou_threshold_, score_threshold_, box_scale_, class_offset_;  // the graph's own
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
  // What is no box, or is not in the frame, has taken its place in the graph, too.
  if (step_ == Step::kTopK) {
    keep_best();
  } else {
    suppress(rows);
  }
  for (const Detection& one : found_) {
    const std::uint32_t label = class_of(static_cast<float>(one.label), labels_);
    if (head().task == Task::kOriented) {
      add_centered(rows, one.box, probability(one.score), label);
    } else {
      add_edges(rows, one.box, probability(one.score), label);
    }
  }
}

void YoloHostDecoder::find(const BoxRows& rows, std::size_t box, float threshold) {
  for (std::uint32_t label = 0; label < head().classes; ++label) {
    const float score = rows.at(box, YoloHead::kBoxValues + label);
    if (!(score >= threshold) || !std::isfinite(score)) continue;
    if (step_ != Step::kTopK && !(score > score_threshold_)) continue;
    found_.push_back({score, static_cast<std::uint32_t>(box), label});
  }
}

void YoloHostDecoder::find_best_class(std::size_t box, float score, std::uint32_t label) {
  if (!(score > score_threshold_) || !std::isfinite(score)) return;
  found_.push_back({score, static_cast<std::uint32_t>(box), label});
}

/// Those of the best class alone are scaled, and moved apart from those of other classes.
Corners YoloHostDecoder::corners_of(const BoxRows& rows, const Detection& one) const {
  Corners corners{};
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i] = rows.at(one.box, i);
  if (step_ != Step::kNmsBestClass) return corners;
  const float move = static_cast<float>(one.label) * class_offset_;
  for (float& edge : corners) edge = edge * box_scale_ + move;
  return corners;
}

void YoloHostDecoder::suppress(const BoxRows& rows) {
  suppressor_.begin();
  for (const Detection& one : found_) suppressor_.add(corners_of(rows, one));
  const auto across = step_ == Step::kNmsBestClass ? Suppressor::Across::kAllClasses
                                                   : Suppressor::Across::kOneClass;
  suppressor_.suppress(&found_, iou_threshold_, most_, across);
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
