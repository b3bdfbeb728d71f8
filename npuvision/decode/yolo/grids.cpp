// YOLOv3, v4, v5 and v7 whose graphs end with the convolutions of their heads: a grid of cells for
// each size of objects, with a box for each of a cell's anchors.
// v3: https://arxiv.org/abs/1804.02767, section 2.1; v4 stretches positions in a cell:
// https://github.com/AlexeyAB/darknet, scale_x_y; v5: https://github.com/ultralytics/yolov5,
// models/yolo.py; v7: https://github.com/WongKinYiu/yolov7, models/yolo.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "../boxes.hpp"
#include "../families.hpp"
#include "../scalar.hpp"
#include "../values.hpp"

#include "head.hpp"

namespace npu::vision {
namespace {

using Place = std::array<double, YoloHead::kBoxValues>;

constexpr std::size_t kUsualAnchors = 3;  // for each cell
constexpr std::array<std::size_t, 3> kUsualSteps{8, 16, 32};

struct Size {
  double width, height;  ///< model pixels
};

/// The authors' own anchors, from the finest grid on.
std::span<const float> usual_anchors(Family family) {
  static constexpr std::array<float, 18> kOfV3AndV5{10, 13, 16,  30,  33, 23,  30,  61,  62,
                                                    45, 59, 119, 116, 90, 156, 198, 373, 326};
  static constexpr std::array<float, 18> kOfV4AndV7{12, 16, 19,  36,  40,  28,  36,  75,  76,
                                                    55, 72, 146, 142, 110, 192, 243, 459, 401};
  const bool is_later = family == Family::kYoloV4Heads || family == Family::kYoloV7Heads;
  return is_later ? kOfV4AndV7 : kOfV3AndV5;
}

/// One output: [1, anchors * values, rows, columns] or [1, anchors, rows, columns, values].
struct Grid {
  std::size_t output = 0;
  std::size_t step = 0;  ///< side of a cell in model pixels
  std::size_t rows = 0, columns = 0;
  std::size_t channels = 0;  ///< anchors * values
  bool has_values_last = false;
};

struct Reading {
  std::vector<Grid> grids;    ///< the finest first
  std::vector<Size> anchors;  ///< the same number for each grid, in the same order
  std::size_t values = 0;     ///< for each box
  std::string refusal;

  std::size_t anchors_of_a_cell() const { return anchors.size() / grids.size(); }
};

std::optional<Grid> grid_of(const Found& found, std::size_t output) {
  const TensorView& tensor = found.outputs[output];
  const bool has_values_last = has_shape(tensor, {1, 0, 0, 0, 0});
  if (!is_float(tensor) || !(has_values_last || has_shape(tensor, {1, 0, 0, 0}))) return {};
  const Grid grid{.output = output,
                  .step = found.input.width / tensor.dims[3],
                  .rows = tensor.dims[2],
                  .columns = tensor.dims[3],
                  .channels = tensor.dims[1] * (has_values_last ? tensor.dims[4] : 1),
                  .has_values_last = has_values_last};
  const bool covers_input = grid.step > 0 && grid.step * grid.columns == found.input.width &&
                            grid.step * grid.rows == found.input.height;
  return covers_input ? std::optional(grid) : std::nullopt;
}

/// Empty where some output is no grid.
std::vector<Grid> grids_of(const Found& found) {
  std::vector<Grid> grids;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const auto grid = grid_of(found, i);
    if (!grid) return {};
    grids.push_back(*grid);
  }
  std::sort(grids.begin(), grids.end(),
            [](const Grid& a, const Grid& b) { return a.step < b.step; });
  const auto differ = [](const Grid& a, const Grid& b) {
    return a.step == b.step || a.channels != b.channels || a.has_values_last != b.has_values_last;
  };
  const bool fit = std::adjacent_find(grids.begin(), grids.end(), differ) == grids.end();
  return fit ? grids : std::vector<Grid>{};
}

bool have_usual_steps(const std::vector<Grid>& grids) {
  return std::equal(grids.begin(), grids.end(), kUsualSteps.begin(), kUsualSteps.end(),
                    [](const Grid& grid, std::size_t step) { return grid.step == step; });
}

std::string settle_anchors(const Found& found, Family family, Reading* reading) {
  std::span<const float> sizes = found.card.anchors;
  const bool are_usual = have_usual_steps(reading->grids);
  if (family == Family::kYoloV4Heads && !are_usual) {
    return "has other grids than those of 8, 16 and 32 pixels, for which YOLOv4 has no formula";
  }
  if (sizes.empty()) {
    if (!are_usual) return "has no anchors, which are known of grids of 8, 16 and 32 pixels only";
    sizes = usual_anchors(family);
  }
  if (sizes.size() % (2 * reading->grids.size()) != 0) {
    return "has " + std::to_string(sizes.size()) +
           " numbers as anchors, which are not a width and "
           "a height for each of the same number of boxes in " +
           std::to_string(reading->grids.size()) + " grids";
  }
  for (std::size_t i = 0; i < sizes.size(); i += 2) {
    reading->anchors.push_back({sizes[i], sizes[i + 1]});
  }
  return "";
}

std::string settle_values(const Found& found, Reading* reading) {
  const std::size_t anchors = reading->anchors_of_a_cell();
  const Grid& grid = reading->grids.front();
  const TensorView& tensor = found.outputs[grid.output];
  const bool fits = grid.has_values_last ? tensor.dims[1] == anchors : grid.channels % anchors == 0;
  reading->values = grid.channels / anchors;
  if (!fits || reading->values <= YoloHead::kFirstFactor) {
    return "has " + std::to_string(grid.channels) + " values in a cell, which is not " +
           std::to_string(anchors) + " anchors times 5 + classes";
  }
  const std::size_t classes = reading->values - YoloHead::kFirstFactor;
  const std::size_t labels = found.card.labels.size();
  if (labels == 0 || labels == classes) return "";
  return "has " + std::to_string(classes) + " classes, but there are " + std::to_string(labels) +
         " labels";
}

/// Whether shapes are so typical of a YOLO that a hint is worthwhile.
bool look_usual(const std::vector<Grid>& grids) {
  return have_usual_steps(grids) && grids.front().channels % kUsualAnchors == 0 &&
         grids.front().channels / kUsualAnchors > YoloHead::kFirstFactor;
}

Reading read_grids(const Found& found, Family family) {
  Reading reading;
  reading.grids = grids_of(found);
  if (reading.grids.empty()) {
    const bool is_open = found.input.width == 0 && found.card.family == family;
    reading.refusal = is_open ? "comes without the size of the model's input, which tells what a "
                                "cell covers"
                              : kOtherTensors;
  } else if (found.card.family != family) {
    reading.refusal = look_usual(reading.grids)
                          ? "may as well be of another version, with other anchors and another "
                            "formula: set model-family"
                          : kOtherTensors;
  } else {
    const Task task = found.card.task;
    const bool detects = task == Task::kUnknown || task == Task::kDetect;
    reading.refusal = detects ? settle_anchors(found, family, &reading)
                              : std::string("has the task ") + to_string(task);
    if (reading.refusal.empty()) {
      reading.refusal = settle_values(found, &reading);
    }
  }
  return reading;
}

/// Width of the range of positions relative to a cell: 1 inside the cell, more beyond it.
double stretch_of(Family family, std::size_t step) {
  if (family == Family::kYoloV5Heads || family == Family::kYoloV7Heads) return 2;
  if (family == Family::kYoloV3Heads) return 1;
  return step == 8 ? 1.2 : step == 16 ? 1.1 : 1.05;
}

/// Reads values of one grid's boxes in either memory layout.
class GridValues {
 public:
  GridValues(const TensorView& tensor, const Grid& grid, std::size_t values)
      : type_(tensor.type), data_(tensor.data) {
    const auto& strides = tensor.strides_bytes;
    row_ = strides[2];
    column_ = strides[3];
    value_ = grid.has_values_last ? strides[4] : strides[1];
    anchor_ = grid.has_values_last ? strides[1] : values * strides[1];
  }

  void aim(std::size_t anchor, std::size_t row, std::size_t column) {
    box_ = data_ + anchor * anchor_ + row * row_ + column * column_;
  }
  float at(std::size_t value) const {
    const std::byte* from = box_ + value * value_;
    return type_ == ElementType::kF16 ? load<Half>(from) : load<float>(from);
  }

 private:
  ElementType type_;
  const std::byte* data_;
  const std::byte* box_ = nullptr;
  std::size_t anchor_ = 0, row_ = 0, column_ = 0, value_ = 0;
};

class GridDecoder : public Decoder {
 public:
  GridDecoder(Family family, const Found& found)
      : family_(family),
        reading_(read_grids(found, family)),
        are_probabilities_(found.card.raw_scores),
        made_for_(found.outputs.begin(), found.outputs.end()) {}

  Family family() const override { return family_; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  template <typename Visit>
  void for_each_box(const TensorView& tensor, const Grid& grid, const Visit& visit) const;
  bool has_logits(std::span<const TensorView> outputs) const;
  void add_grid(std::span<const TensorView> outputs, std::size_t number, float threshold);
  float score_of(const GridValues& values, float threshold, std::uint32_t* label) const;
  float as_probability(float value) const {
    return has_logits_ ? sigmoid(value) : probability(value);
  }
  Place place_of(const GridValues& values, const Grid& grid, const Size& anchor, std::size_t row,
                 std::size_t column) const;

  Family family_;
  Reading reading_;
  std::optional<bool> are_probabilities_;  // by the card
  std::vector<TensorView> made_for_;
  bool has_logits_ = false;
  std::size_t index_ = 0;  // index of the next box
  Boxes boxes_;
};

void GridDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                         FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  for (std::size_t i = 0; i < made_for_.size(); ++i) checked_output(outputs, i, made_for_[i]);
  has_logits_ = are_probabilities_ ? !*are_probabilities_ : has_logits(outputs);
  boxes_.begin(geometry, frame);
  index_ = 0;
  for (std::size_t i = 0; i < reading_.grids.size(); ++i) {
    add_grid(outputs, i, options.confidence_threshold);
  }
  boxes_.choose(options, true);
  boxes_.give(answer);
}

/// Visits anchor after anchor, row after row.
template <typename Visit>
void GridDecoder::for_each_box(const TensorView& tensor, const Grid& grid,
                               const Visit& visit) const {
  GridValues values(tensor, grid, reading_.values);
  for (std::size_t anchor = 0; anchor < reading_.anchors_of_a_cell(); ++anchor) {
    for (std::size_t row = 0; row < grid.rows; ++row) {
      for (std::size_t column = 0; column < grid.columns; ++column) {
        values.aim(anchor, row, column);
        visit(values, anchor, row, column);
      }
    }
  }
}

// Some exports end with the sigmoid, some before it. Most cells of a picture are empty, and an
// empty cell's logit is negative.
bool GridDecoder::has_logits(std::span<const TensorView> outputs) const {
  constexpr float kRounding = 1e-3F;  // of f16 values
  bool any = false;
  for (const Grid& grid : reading_.grids) {
    for_each_box(outputs[grid.output], grid, [&](const GridValues& values, auto...) {
      const float object = values.at(YoloHead::kObjectness);
      any = any || (std::isfinite(object) && (object < -kRounding || object > 1 + kRounding));
    });
  }
  return any;
}

void GridDecoder::add_grid(std::span<const TensorView> outputs, std::size_t number,
                           float threshold) {
  const Grid& grid = reading_.grids[number];
  const std::size_t first_anchor = number * reading_.anchors_of_a_cell();
  for_each_box(
      outputs[grid.output], grid,
      [&](const GridValues& values, std::size_t anchor, std::size_t row, std::size_t column) {
        const std::size_t index = index_++;
        std::uint32_t label = 0;
        const float score = score_of(values, threshold, &label);
        if (!(score >= threshold)) return;
        const auto [x, y, width, height] =
            place_of(values, grid, reading_.anchors[first_anchor + anchor], row, column);
        boxes_.add(Edges{x - width / 2, y - height / 2, x + width / 2, y + height / 2}, score,
                   label, index);
      });
}

/// NaN where the box does not count. Both factors are probabilities, so the objectness alone
/// excludes most boxes.
float GridDecoder::score_of(const GridValues& values, float threshold, std::uint32_t* label) const {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const float raw = values.at(YoloHead::kObjectness);
  if (!std::isfinite(raw)) return kNone;
  const float object = as_probability(raw);
  if (object < threshold) return kNone;
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t value = YoloHead::kFirstFactor; value < reading_.values; ++value) {
    if (values.at(value) > best) {
      best = values.at(value);
      *label = static_cast<std::uint32_t>(value - YoloHead::kFirstFactor);
    }
  }
  return std::isfinite(best) ? object * as_probability(best) : kNone;
}

Place GridDecoder::place_of(const GridValues& values, const Grid& grid, const Size& anchor,
                            std::size_t row, std::size_t column) const {
  const auto share = [&](std::size_t value) {
    return static_cast<double>(has_logits_ ? sigmoid(values.at(value)) : values.at(value));
  };
  const double stretch = stretch_of(family_, grid.step);
  const auto center = [&](std::size_t value, std::size_t cell) {
    const double in_cell = share(value) * stretch - (stretch - 1) / 2;
    return (in_cell + static_cast<double>(cell)) * static_cast<double>(grid.step);
  };
  const bool has_squares = family_ == Family::kYoloV5Heads || family_ == Family::kYoloV7Heads;
  const auto factor = [&](std::size_t value) {
    return has_squares ? 4 * share(value) * share(value)
                       : std::exp(static_cast<double>(values.at(value)));
  };
  return {center(0, column), center(1, row), factor(2) * anchor.width, factor(3) * anchor.height};
}

constexpr std::array kTasks{Task::kDetect};
constexpr const char* kExpects =
    "f32 or f16 [1, anchors * (5 + classes), rows, columns] or [1, anchors, rows, columns, "
    "5 + classes] for each of three sizes of cells";

template <Family family>
constexpr Contract contract_of() {
  return {.family = family,
          .tasks = kTasks,
          .expects = kExpects,
          .refusal = [](const Found& found) { return read_grids(found, family).refusal; },
          .make = [](const Found& found) -> std::unique_ptr<Decoder> {
            return std::make_unique<GridDecoder>(family, found);
          }};
}

}  // namespace

const Contract kYoloV3HeadsContract = contract_of<Family::kYoloV3Heads>();
const Contract kYoloV4HeadsContract = contract_of<Family::kYoloV4Heads>();
const Contract kYoloV5HeadsContract = contract_of<Family::kYoloV5Heads>();
const Contract kYoloV7HeadsContract = contract_of<Family::kYoloV7Heads>();

}  // namespace npu::vision
