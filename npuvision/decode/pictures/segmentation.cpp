// Semantic segmentation: a class for each place of the frame.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kMostClasses = 1 << 16;  // of Answer::class_map

bool are_scores(const TensorView& output) {
  return is_float(output) && has_shape(output, {1, 0, 0, 0}) && output.dims[1] > 1;
}

bool are_ids(const TensorView& output) {
  return is_readable(output) && (has_shape(output, {1, 0, 0}) || has_shape(output, {1, 1, 0, 0}));
}

bool fits(const Found&, const TensorView& output) {
  return are_scores(output) || are_ids(output);
}

std::string refusal(const Found& found) {
  const int only = only_output(found, fits);
  if (only < 0) return why_none(found, fits);
  if (found.card.task != Task::kSemantic && found.card.family != Family::kSegmentation) {
    return "could be another map: set model-task to semantic";
  }
  const TensorView& output = found.outputs[static_cast<std::size_t>(only)];
  if (!has_proportions(output, found.input)) return kOtherProportions;
  const std::size_t classes = are_scores(output) ? output.dims[1] : 0;
  const std::size_t labels = found.card.labels.size();
  if (classes > kMostClasses) return "has more than 65536 classes";
  if (classes == 0 || labels == 0 || labels == classes) return "";
  return "has " + std::to_string(classes) + " classes, but there are " + std::to_string(labels) +
         " labels: give one for each, also for the background";
}

class SegmentationDecoder : public Decoder {
 public:
  explicit SegmentationDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]),
        labels_(std::min(found.card.labels.size(), kMostClasses)) {}

  Family family() const override { return Family::kSegmentation; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  const std::byte* start(const TensorView& output, std::size_t label, std::size_t x,
                         std::size_t y) const;
  bool best_of_row(const TensorView& output, const Window& window, std::size_t y);
  void ids_of_row(const TensorView& output, const Window& window, std::size_t y);

  std::size_t index_;
  TensorView made_for_;
  std::size_t labels_;
  std::vector<float> values_, best_;
  std::vector<std::uint16_t> ids_;
};

void SegmentationDecoder::decode(std::span<const TensorView> outputs,
                                 const npu::FrameGeometry& geometry, FrameSize frame,
                                 const DecodeOptions&, Answer* answer) {
  answer->clear();
  const TensorView& output = outputs[index_];
  check_memory(output, made_for_);
  const std::size_t rank = output.rank;
  const Window window =
      window_of(geometry, frame, output.dims.at(rank - 1), output.dims.at(rank - 2));
  values_.resize(window.width);
  ids_.resize(window.width);
  for (std::size_t y = 0; y < window.height; ++y) {
    if (!are_scores(output)) {
      ids_of_row(output, window, y);
    } else if (!best_of_row(output, window, y)) {
      return leave_undefined(answer);
    }
    answer->class_map.values.insert(answer->class_map.values.end(), ids_.begin(), ids_.end());
  }
  answer->class_map.width = static_cast<std::uint32_t>(window.width);
  answer->class_map.height = static_cast<std::uint32_t>(window.height);
}

const std::byte* SegmentationDecoder::start(const TensorView& output, std::size_t label,
                                            std::size_t x, std::size_t y) const {
  return output.rank == 3 ? element(output, {0, y, x}) : element(output, {0, label, y, x});
}

/// False where all scores of a place are NaN or infinite.
bool SegmentationDecoder::best_of_row(const TensorView& output, const Window& window,
                                      std::size_t y) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  best_.assign(window.width, kLowest);
  for (std::size_t label = 0; label < output.dims[1]; ++label) {
    read(output, start(output, label, window.left, window.top + y), output.strides_bytes[3],
         values_);
    for (std::size_t x = 0; x < window.width; ++x) {
      if (!(values_[x] > best_[x]) || std::isinf(values_[x])) continue;
      best_[x] = values_[x];
      ids_[x] = static_cast<std::uint16_t>(label);
    }
  }
  return are_finite(best_);
}

void SegmentationDecoder::ids_of_row(const TensorView& output, const Window& window,
                                     std::size_t y) {
  read(output, start(output, 0, window.left, window.top + y), output.strides_bytes[output.rank - 1],
       values_);
  for (std::size_t x = 0; x < window.width; ++x) {
    ids_[x] =
        static_cast<std::uint16_t>(class_of(values_[x], labels_ > 0 ? labels_ : kMostClasses));
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<SegmentationDecoder>(found);
}

constexpr std::array kTasks{Task::kSemantic};

}  // namespace

const Contract kSegmentationContract{Family::kSegmentation, kTasks,
                                     "[1, classes, height, width] or class ids [1, height, width]",
                                     refusal, make};

}  // namespace npu::vision
