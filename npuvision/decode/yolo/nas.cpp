// YOLO-NAS as SuperGradients exports it with its flat format of results: the graph has already
// suppressed overlaps. https://github.com/Deci-AI/super-gradients, documentation, models_export.
#include <array>
#include <cmath>

#include <npucore/error.hpp>

#include "../boxes.hpp"
#include "../families.hpp"
#include "../values.hpp"

namespace npu::vision {
namespace {

// A row has picture, left, top, right, bottom in model pixels, score, class.
constexpr std::size_t kRow = 7, kLeft = 1;

bool is_rows(const Found&, const TensorView& output) {
  return is_float(output) && has_shape(output, {0, kRow});
}

std::string refusal(const Found& found) {
  const int rows = only_output(found, is_rows);
  if (rows < 0) return why_none(found, is_rows);
  return found.card.family == Family::kYoloNas
             ? ""
             : "could be other rows of seven: set model-family to yolo-nas where it is";
}

class YoloNasDecoder : public Decoder {
 public:
  explicit YoloNasDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, is_rows))),
        made_for_(found.outputs[index_]),
        labels_(found.card.labels.size()),
        input_(found.input) {}

  Family family() const override { return Family::kYoloNas; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  bool add(const float* row, std::size_t index, float threshold);

  std::size_t index_;
  TensorView made_for_;
  std::size_t labels_;
  InputSize input_;
  std::vector<float> rows_;
  Boxes boxes_;
};

void YoloNasDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                            FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_all(checked_output(outputs, index_, made_for_), &rows_);
  boxes_.begin(geometry, frame);
  for (std::size_t i = 0; i * kRow < rows_.size(); ++i) {
    if (!add(&rows_[i * kRow], i, options.confidence_threshold)) break;
  }
  check_pixels(boxes_, input_, rows_.size() / kRow, [&](std::size_t box, std::size_t value) {
    return rows_[box * kRow + kLeft + value];
  });
  boxes_.keep_best(options.max_objects);
  boxes_.give(answer);
}

/// Returns whether the list goes on: a negative class ends it.
bool YoloNasDecoder::add(const float* row, std::size_t index, float threshold) {
  const float picture = row[0], score = row[5], label = row[6];
  if (label < 0) return false;
  if (!(score >= threshold) || !std::isfinite(score)) return true;
  if (picture != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the output has rows of another picture than the first, so it is no yolo-nas: set "
                "model-family");
  }
  boxes_.add({row[1], row[2], row[3], row[4]}, probability(score), class_of(label, labels_), index);
  return true;
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<YoloNasDecoder>(found);
}

constexpr std::array kTasks{Task::kDetect};

}  // namespace

const Contract kYoloNasContract{Family::kYoloNas, kTasks, "f32 or f16 [boxes, 7]", refusal, make};

}  // namespace npu::vision
