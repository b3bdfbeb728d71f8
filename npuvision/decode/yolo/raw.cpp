// YOLOv5u, v8, v9, 11, 12, and 26 without its end-to-end head: overlaps are left in.
#include <algorithm>
#include <array>
#include <cmath>

#include "../families.hpp"

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

class YoloRawDecoder : public HeadDecoder {
 public:
  using HeadDecoder::HeadDecoder;
  Family family() const override { return Family::kYolo; }

 protected:
  void collect(const BoxRows& rows, float threshold) override;
  void choose(Boxes& boxes, const DecodeOptions& options) const override;

 private:
  BestScores best_;
};

void YoloRawDecoder::collect(const BoxRows& rows, float threshold) {
  for (std::size_t first = 0; first < rows.boxes; first += BestScores::kBlock) {
    const std::size_t count = std::min(BestScores::kBlock, rows.boxes - first);
    best_.find(rows, first, count, YoloHead::kBoxValues, head().classes);
    for (std::size_t i = 0; i < count; ++i) {
      const float score = best_.score[i];
      if (!(score >= threshold) || !std::isfinite(score)) continue;
      add_centered(rows, first + i, probability(score), best_.label[i]);
    }
  }
}

void YoloRawDecoder::choose(Boxes& boxes, const DecodeOptions& options) const {
  if (head().task == Task::kOriented && options.suppresses.value_or(true)) {
    boxes.suppress_oriented(options.iou_threshold, options.max_objects);
  } else {
    boxes.choose(options, true);
  }
}

/// The registry has classes in rows only.
void name_tensors(const Found& found, TensorGroup* group) {
  const YoloHead head = read_raw_head(found).head;
  if (!head.channels_first) return;
  std::string output;
  switch (head.task) {
    case Task::kDetect:
      group->id = output = "yolo-v8-out";
      break;
    case Task::kOriented:
      group->id = output = "yolo-v8-obb-out";
      break;
    case Task::kSegment:
      if (!head.protos) return;
      group->id = "yolo-v8-segmentation-out";
      output = group->id + "-detections";
      group->outputs[*head.protos] = {group->id + "-protos", true};
      break;
    default:
      return;
  }
  group->outputs[head.output] = {output, true};
}

constexpr std::array kTasks{Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented};

}  // namespace

const Contract kYoloContract{
    .family = Family::kYolo,
    .tasks = kTasks,
    .expects =
        "f32 or f16 [1, 4 + classes, boxes] or [1, boxes, 4 + classes], with more values "
        "for masks, key points or an angle",
    .refusal = [](const Found& found) { return read_raw_head(found).refusal; },
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      return std::make_unique<YoloRawDecoder>(read_raw_head(found).head, found);
    },
    .name_tensors = name_tensors};

}  // namespace npu::vision
