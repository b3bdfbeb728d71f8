// YOLOv10, YOLO26 and exports with nms=True: the model has already dropped overlaps. Rows of zeros
// fill up the tensor.
#include <array>
#include <cmath>

#include "../families.hpp"

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

class YoloEndToEndDecoder : public HeadDecoder {
 public:
  using HeadDecoder::HeadDecoder;
  Family family() const override { return Family::kYoloEndToEnd; }

 protected:
  void collect(const BoxRows& rows, float threshold) override;
  void choose(Boxes& boxes, const DecodeOptions& options) const override {
    boxes.keep_best(options.max_objects);
  }
};

void YoloEndToEndDecoder::collect(const BoxRows& rows, float threshold) {
  constexpr std::size_t kScore = YoloHead::kBoxValues, kClass = kScore + 1;
  for (std::size_t box = 0; box < rows.boxes; ++box) {
    const float score = rows.at(box, kScore);
    if (!(score >= threshold) || !std::isfinite(score)) continue;
    const std::uint32_t label = class_of(rows.at(box, kClass), head().classes);
    if (head().task == Task::kOriented) {
      add_centered(rows, box, probability(score), label);
    } else {
      add_edges(rows, box, probability(score), label);
    }
  }
}

bool is_left_to_host(const Found& found) {
  return !found.card.host_postprocess.empty();
}

/// Without its end it is in no registry.
void name_tensors(const Found& found, TensorGroup* group) {
  if (is_left_to_host(found)) return;
  const YoloHead head = read_end_to_end_head(found).head;
  if (head.task == Task::kDetect && head.values == YoloHead::kEndToEndValues) {
    group->id = group->outputs[head.output].id = "yolo-26-end2end-out";
  }
}

constexpr std::array kTasks{Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented};

}  // namespace

const Contract kYoloEndToEndContract{
    .family = Family::kYoloEndToEnd,
    .tasks = kTasks,
    .expects = "f32 or f16 [1, boxes, 6], with more values for masks, key points or an angle",
    .refusal =
        [](const Found& found) {
          return is_left_to_host(found) ? read_host_head(found).refusal
                                        : read_end_to_end_head(found).refusal;
        },
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      if (is_left_to_host(found)) return make_host_decoder(read_host_head(found).head, found);
      return std::make_unique<YoloEndToEndDecoder>(read_end_to_end_head(found).head, found);
    },
    .name_tensors = name_tensors};

}  // namespace npu::vision
