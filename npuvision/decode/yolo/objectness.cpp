// Detectors with a score for any object and a factor for each class: YOLOv5 and v7 as their own
// repositories export them, and YOLOX.
#include <array>
#include <cmath>
#include <string>

#include "../cells.hpp"
#include "../families.hpp"

#include "head_decoder.hpp"

namespace npu::vision {
namespace {

/// Cell that a YOLOX box is relative to.
struct Cell {
  float x, y, step;  ///< cells, cells, model pixels
};

// Cells row after row, from the finest grid on.
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

std::string refusal_of_objectness(const Found& found) {
  const auto [head, refusal] = read_objectness_head(found, Family::kYoloObjectness);
  if (!refusal.empty() || found.card.family == Family::kYoloObjectness) return refusal;
  constexpr std::size_t kAnchors = 3;
  if (are_grid_cells(head.boxes, found.input, kAnchors)) return "";
  return "has " + std::to_string(head.boxes) +
         " boxes, which are not three for each cell of the model's input: set model-family";
}

// A YOLOX exported with its decoding looks the same, and so does YOLOv6.
std::string refusal_of_yolox(const Found& found) {
  const auto [head, refusal] = read_objectness_head(found, Family::kYoloX);
  if (!refusal.empty()) return refusal;
  if (head.task != Task::kDetect) return std::string("has the task ") + to_string(head.task);
  if (head.boxes != grid_cells(found.input)) {
    return "has " + std::to_string(head.boxes) +
           " boxes, which are not one for each cell of the model's input";
  }
  if (found.card.family == Family::kYoloX) return "";
  return "may as well have boxes in pixels: set model-family to yolox where it has not";
}

class ObjectnessDecoder : public HeadDecoder {
 public:
  using HeadDecoder::HeadDecoder;
  Family family() const override { return Family::kYoloObjectness; }

 protected:
  void collect(const BoxRows& rows, float threshold) override;
  void choose(Boxes& boxes, const DecodeOptions& options) const override {
    boxes.choose(options, true);
  }
  /// Centre x, centre y, width, height in model pixels.
  virtual std::array<double, YoloHead::kBoxValues> place(const BoxRows& rows,
                                                         std::size_t box) const {
    return {rows.at(box, 0), rows.at(box, 1), rows.at(box, 2), rows.at(box, 3)};
  }
};

// Both factors are probabilities, so the objectness alone excludes most boxes.
void ObjectnessDecoder::collect(const BoxRows& rows, float threshold) {
  for (std::size_t box = 0; box < rows.boxes; ++box) {
    const float object = rows.at(box, YoloHead::kObjectness);
    if (!(object >= threshold) || !std::isfinite(object)) continue;
    const BestScore best = best_score(rows, box, YoloHead::kFirstFactor, head().classes);
    if (!std::isfinite(best.score)) continue;
    const float score = probability(object) * probability(best.score);
    if (score >= threshold) {
      add_at(place(rows, box), rows, box, score, best.label);
    }
  }
}

// https://github.com/Megvii-BaseDetection/YOLOX/blob/main/yolox/models/yolo_head.py
class YoloXDecoder : public ObjectnessDecoder {
 public:
  YoloXDecoder(const YoloHead& head, const Found& found)
      : ObjectnessDecoder(head, found), cells_(cells_of(found.input)) {}

  Family family() const override { return Family::kYoloX; }
  bool has_pixels() const override { return false; }  // the values are cells and logarithms

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

constexpr std::array kTasks{Task::kDetect, Task::kSegment};
constexpr std::array kYoloXTasks{Task::kDetect};

}  // namespace

const Contract kYoloObjectnessContract{
    .family = Family::kYoloObjectness,
    .tasks = kTasks,
    .expects =
        "f32 or f16 [1, boxes, 5 + classes], three boxes for each cell, with more values for "
        "masks",
    .refusal = refusal_of_objectness,
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      return std::make_unique<ObjectnessDecoder>(
          read_objectness_head(found, Family::kYoloObjectness).head, found);
    }};

const Contract kYoloXContract{
    .family = Family::kYoloX,
    .tasks = kYoloXTasks,
    .expects = "f32 or f16 [1, boxes, 5 + classes], one box for each cell",
    .refusal = refusal_of_yolox,
    .make = [](const Found& found) -> std::unique_ptr<Decoder> {
      return std::make_unique<YoloXDecoder>(read_objectness_head(found, Family::kYoloX).head,
                                            found);
    }};

}  // namespace npu::vision
