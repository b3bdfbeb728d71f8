// Detectors that rate whether there is an object at all, and which it would be: YOLOv5 and v7 as
// their own repositories export them, and YOLOX.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "../boxes.hpp"
#include "../families.hpp"

#include "head.hpp"
#include "rows.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kObjectness = YoloHead::kBoxValues;
constexpr std::size_t kFirstClass = kObjectness + 1;

/// Where each box of YOLOX counts from.
struct Cell {
  float x, y, step;  ///< cells, cells, model pixels
};

// Row after row, the finest grid first.
std::vector<Cell> cells_of(InputSize input) {
  std::vector<Cell> cells;
  for (const std::uint32_t step : {8U, 16U, 32U}) {
    for (std::uint32_t y = 0; y * step < input.height; ++y) {
      for (std::uint32_t x = 0; x * step < input.width; ++x) {
        cells.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(step)});
      }
    }
  }
  return cells;
}

/// The only output, or that of the card's name.
const TensorView* find_boxes(const Found& found) {
  const std::string& name = found.card.output;
  if (name.empty() && found.outputs.size() != 1) return nullptr;
  const auto output =
      std::find_if(found.outputs.begin(), found.outputs.end(),
                   [&name](const TensorView& one) { return name.empty() || one.name == name; });
  const bool fits = output != found.outputs.end() && is_float(*output) &&
                    has_shape(*output, {1, 0, 0}) && output->dims[2] > kFirstClass;
  return fits ? &*output : nullptr;
}

// What both ask of it.
std::string refusal_of_rows(const Found& found, Family family) {
  const TensorView* tensor = find_boxes(found);
  if (tensor == nullptr) return kOtherTensors;
  if (found.card.task != Task::kUnknown && found.card.task != Task::kDetect) {
    return std::string("has the task ") + to_string(found.card.task);
  }
  if (found.card.end_to_end.value_or(false)) return "is said to be end to end";
  if (found.card.channels_first.value_or(false)) return "is said to have channels first";
  const bool is_named = found.card.family == family;
  const std::size_t classes = tensor->dims[2] - kFirstClass, labels = found.card.labels.size();
  if (is_named || classes == labels) return "";
  if (labels == 0 && found.card.task == Task::kDetect) return "";
  return "has " + std::to_string(tensor->dims[2]) + " values per box, which is not 5 + " +
         std::to_string(labels) + " labels";
}

std::string refusal_of_objectness(const Found& found) {
  std::string refusal = refusal_of_rows(found, Family::kYoloObjectness);
  if (!refusal.empty() || found.card.family == Family::kYoloObjectness) return refusal;
  constexpr std::size_t kAnchors = 3;
  const std::size_t boxes = find_boxes(found)->dims[1];
  if (are_grid_cells(boxes, found.input, kAnchors)) return "";
  return "has " + std::to_string(boxes) +
         " boxes, which are not three for each cell of the model's input: set model-family";
}

// Exported with its decoding, it looks the same, and so does YOLOv6.
std::string refusal_of_yolox(const Found& found) {
  std::string refusal = refusal_of_rows(found, Family::kYoloX);
  if (!refusal.empty()) return refusal;
  const std::size_t boxes = find_boxes(found)->dims[1];
  if (boxes != grid_cells(found.input)) {
    return "has " + std::to_string(boxes) +
           " boxes, which are not one for each cell of the model's input";
  }
  if (found.card.family == Family::kYoloX) return "";
  return "may as well have boxes in pixels: set model-family to yolox where it has not";
}

class ObjectnessDecoder : public Decoder {
 public:
  explicit ObjectnessDecoder(const Found& found)
      : index_(static_cast<std::size_t>(find_boxes(found) - found.outputs.data())),
        made_for_(found.outputs[index_]) {}

  Family family() const override { return Family::kYoloObjectness; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 protected:
  /// Centre x, centre y, width, height in model pixels.
  virtual std::array<double, YoloHead::kBoxValues> place(const BoxRows& rows,
                                                         std::size_t box) const {
    return {rows.at(box, 0), rows.at(box, 1), rows.at(box, 2), rows.at(box, 3)};
  }

 private:
  void add(const BoxRows& rows, std::size_t box, float threshold);

  std::size_t index_;
  TensorView made_for_;
  Boxes boxes_;
};

void ObjectnessDecoder::decode(std::span<const TensorView> outputs,
                               const npu::FrameGeometry& geometry, FrameSize frame,
                               const DecodeOptions& options, Answer* answer) {
  answer->clear();
  const BoxRows rows = rows_of(checked_output(outputs, index_, made_for_), false);
  boxes_.begin(geometry, frame);
  for (std::size_t box = 0; box < rows.boxes; ++box) {
    add(rows, box, options.confidence_threshold);
  }
  boxes_.suppress(options.iou_threshold, options.max_objects);
  boxes_.give(answer);
}

// Both factors are probabilities, so the objectness alone rules most boxes out.
void ObjectnessDecoder::add(const BoxRows& rows, std::size_t box, float threshold) {
  const float object = rows.at(box, kObjectness);
  if (!(object >= threshold) || !std::isfinite(object)) return;
  const BestScore best = best_score(rows, box, kFirstClass, rows.values - kFirstClass);
  if (!std::isfinite(best.score)) return;
  const float score = probability(object) * probability(best.score);
  if (!(score >= threshold)) return;
  const auto [x, y, width, height] = place(rows, box);
  boxes_.add(Edges{x - width / 2, y - height / 2, x + width / 2, y + height / 2}, score, best.label,
             box);
}

// https://github.com/Megvii-BaseDetection/YOLOX/blob/main/yolox/models/yolo_head.py
class YoloXDecoder : public ObjectnessDecoder {
 public:
  explicit YoloXDecoder(const Found& found)
      : ObjectnessDecoder(found), cells_(cells_of(found.input)) {}

  Family family() const override { return Family::kYoloX; }

 protected:
  std::array<double, YoloHead::kBoxValues> place(const BoxRows& rows,
                                                 std::size_t box) const override {
    const Cell& cell = cells_[box];
    return {(rows.at(box, 0) + cell.x) * cell.step, (rows.at(box, 1) + cell.y) * cell.step,
            std::exp(rows.at(box, 2)) * cell.step, std::exp(rows.at(box, 3)) * cell.step};
  }

 private:
  std::vector<Cell> cells_;
};

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kYoloObjectnessContract{
    .family = Family::kYoloObjectness,
    .tasks = kTasks,
    .expects = "f32 or f16 [1, boxes, 5 + classes], three boxes for each cell",
    .refusal = refusal_of_objectness,
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      return std::make_unique<ObjectnessDecoder>(found);
    }};

const Contract kYoloXContract{
    .family = Family::kYoloX,
    .tasks = kTasks,
    .expects = "f32 or f16 [1, boxes, 5 + classes], one box for each cell",
    .refusal = refusal_of_yolox,
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      return std::make_unique<YoloXDecoder>(found);
    }};

}  // namespace npu::vision
