// The end of YOLOv10, YOLO26 and exports with nms=True that was cut off the graph: what TopK or
// NonMaxSuppression would have chosen there.
#include <algorithm>
#include <cmath>

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

/// One box may be a detection of several classes.
struct Detection {
  float score;
  std::uint32_t box, label;
};

bool is_better(const Detection& one, const Detection& other) {
  if (one.score != other.score) return one.score > other.score;
  return one.box != other.box ? one.box < other.box : one.label < other.label;
}

class YoloHostDecoder : public HeadDecoder {
 public:
  YoloHostDecoder(const YoloHead& head, const Found& found)
      : HeadDecoder(head, found),
        labels_(found.card.labels.size()),
        most_(found.card.host_detections),
        suppresses_(found.card.host_postprocess == "nms"),
        iou_threshold_(found.card.host_iou_threshold.value_or(1)),
        score_threshold_(found.card.host_score_threshold.value_or(0)) {}
  Family family() const override { return Family::kYoloEndToEnd; }

 protected:
  void collect(const BoxRows& rows, float threshold) override;
  void choose(Boxes& boxes, const DecodeOptions& options) const override;

 private:
  void find(const BoxRows& rows, std::size_t box, float threshold);
  void keep_best();

  std::size_t labels_, most_;
  bool suppresses_;
  float iou_threshold_, score_threshold_;  // the graph's own
  BestScores best_;
  std::vector<Detection> found_;
};

void YoloHostDecoder::collect(const BoxRows& rows, float threshold) {
  found_.clear();
  for (std::size_t first = 0; first < rows.boxes; first += BestScores::kBlock) {
    const std::size_t count = std::min(BestScores::kBlock, rows.boxes - first);
    best_.find(rows, first, count, YoloHead::kBoxValues, head().classes);
    for (std::size_t i = 0; i < count; ++i) {
      if (best_.score[i] >= threshold) find(rows, first + i, threshold);
    }
  }
  // What is no box has taken its place in the graph, too.
  if (!suppresses_) keep_best();
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
    if (suppresses_ && !(score > score_threshold_)) continue;
    found_.push_back({score, static_cast<std::uint32_t>(box), label});
  }
}

void YoloHostDecoder::keep_best() {
  if (found_.size() <= most_) return;
  const auto end = found_.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(found_.begin(), end, found_.end(), is_better);
  found_.erase(end, found_.end());
}

void YoloHostDecoder::choose(Boxes& boxes, const DecodeOptions& options) const {
  const std::size_t most = std::min(options.max_objects, most_);
  if (suppresses_) {
    // OpenVINO's operator takes as much as the threshold for too much.
    boxes.suppress(std::nextafter(iou_threshold_, -1.0F), most);
  } else {
    boxes.keep_best(most);
  }
}

}  // namespace

std::unique_ptr<Decoder> make_host_decoder(const YoloHead& head, const Found& found) {
  return std::make_unique<YoloHostDecoder>(head, found);
}

}  // namespace npu::vision
