// Semantic segmentation: a class for each place of the frame.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <npucore/error.hpp>

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

/// Whether it has a row for each of as many queries.
bool has_queries(const TensorView& output, std::size_t queries) {
  if (output.rank == 0 || output.rank > 3) return false;
  const bool is_batch = output.rank > 1 && output.dims[0] == 1;
  return output.dims.at(is_batch ? 1 : 0) == queries;
}

/// Whether its rows have room for a box, a class and as many mask coefficients.
bool has_coefficients(const TensorView& output, std::size_t coefficients) {
  constexpr std::size_t kBoxAndClass = 5;
  return is_float(output) && has_shape(output, {1, 0, 0}) &&
         std::min(output.dims[1], output.dims[2]) >= coefficients + kBoxAndClass;
}

/// The output to which these channels would belong as masks; null: none.
const TensorView* owner_of_masks(const Found& found, const TensorView& map) {
  const std::size_t channels = map.dims[1];
  const bool is_labelled = found.card.labels.size() == channels;
  for (const TensorView& other : found.all()) {
    if (&other == &map) continue;
    if (has_queries(other, channels) || (!is_labelled && has_coefficients(other, channels))) {
      return &other;
    }
  }
  return nullptr;
}

bool is_decoded(const ModelCard& card, const Found& found) {
  try {
    fitting_contract({card, found.all(), found.input});
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The settings that decode the outputs as masks of objects, as far as there are any; they may also
/// want other labels.
std::string way_of_masks(const Found& found) {
  ModelCard card = found.card;
  for (int round = 0; round < 2; ++round, card.labels.clear()) {
    card.family = Family::kMaskQueries;
    card.task = Task::kSemantic;
    if (is_decoded(card, found)) return "set model-family to mask-queries where they are, or ";
    card.family = Family::kAuto;
    card.task = Task::kSegment;
    if (is_decoded(card, found)) return "set model-task to segment where they are, or ";
  }
  return "set ";
}

std::string refusal_of_masks_in(const TensorView& map, const TensorView& owner,
                                const Found& found) {
  const std::string name = '"' + std::string(map.name) + '"';
  return "could have masks of objects in " + name + ", whose " + std::to_string(map.dims[1]) +
         " channels fit to " + owner.describe() + ": " + way_of_masks(found) + "tensor-name to " +
         name + " where each channel is a class";
}

/// Refuses channels that could be queries' masks or prototypes, unless someone says what they are.
std::string refusal_of_masks(const Found& found) {
  const ModelCard& card = found.card;
  if (card.task != Task::kSemantic || card.family != Family::kAuto || !card.output.empty()) {
    return "";
  }
  for (const TensorView& map : found.all()) {
    const TensorView* owner = are_scores(map) ? owner_of_masks(found, map) : nullptr;
    if (owner != nullptr) return refusal_of_masks_in(map, *owner, found);
  }
  return "";
}

std::string refusal(const Found& found) {
  if (std::string masks = refusal_of_masks(found); !masks.empty()) return masks;
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
