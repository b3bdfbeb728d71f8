// Classification of a whole picture: one value for each class.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "families.hpp"
#include "levels.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr double kSumError = 0.01;  // of f16 probabilities

/// Kinds of class values.
enum class Scores { kUnknown, kProbabilities, kLogits };

/// Whether all values are whole multiples of `step`, as far as f16 shows.
bool are_multiples(std::span<const float> values, float step) {
  constexpr float kError = 0.07F;  // of a step
  return std::all_of(values.begin(), values.end(), [step](float value) {
    const float steps = value / step;
    return std::abs(steps - std::round(steps)) <= kError;
  });
}

/// The step that probabilities were rounded to when quantised to 8 bits; 0: they were not. One of
/// the usual steps, else the largest that divides the smallest value. In f16 such a part is not
/// exact.
float quantisation_step(std::span<const float> values) {
  for (const float usual : {1.0F / 255, 1.0F / 256}) {
    if (are_multiples(values, usual)) return usual;
  }
  constexpr float kLargest = 1.001F / 255, kSmallest = 0.25F / 255;
  float least = 0;
  for (const float value : values) {
    if (value > 0 && (least == 0 || value < least)) {
      least = value;
    }
  }
  if (least == 0) return 0;
  for (float parts = std::ceil(least / kLargest); least / parts >= kSmallest; ++parts) {
    if (are_multiples(values, least / parts)) return least / parts;
  }
  return 0;
}

/// Whether values of 8 bits may be probabilities: zeros may have lost up to a step, if they were
/// cut, and values above zero may have gained half a step.
bool may_sum_to_one(std::span<const float> values, double sum) {
  const double step = quantisation_step(values);
  if (step == 0) return false;
  const auto above = std::count_if(values.begin(), values.end(), [](float v) { return v > 0; });
  return sum >= 1 - static_cast<double>(values.size()) * step - kSumError &&
         sum <= 1 + static_cast<double>(above) * step / 2 + kSumError;
}

/// Whether some value is too far out of 0..1 for a probability, even a rounded one.
bool prove_logits(std::span<const float> values) {
  constexpr float kError = 0.01F;
  return std::any_of(values.begin(), values.end(),
                     [](float value) { return value < -kError || value > 1 + kError; });
}

/// Judges by one frame alone. If all values are the same, they say nothing.
Scores scores_of(std::span<const float> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most) return Scores::kUnknown;
  if (prove_logits(values)) return Scores::kLogits;
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return std::abs(sum - 1) <= kSumError || may_sum_to_one(values, sum) ? Scores::kProbabilities
                                                                       : Scores::kLogits;
}

/// Number of classes in [1, classes], [1, classes, 1, 1] and the like, where all dimensions but one
/// are 1; 0 for other shapes.
std::size_t classes_of(const TensorView& output) {
  if (!is_float(output) || output.rank == 0) return 0;
  std::size_t classes = 1;
  for (std::size_t i = 0; i < output.rank; ++i) {
    if (output.dims[i] == 1) continue;
    if (classes != 1) return 0;
    classes = output.dims[i];
  }
  return classes;
}

bool fits(const Found& found, const TensorView& output) {
  const std::size_t classes = classes_of(output), labels = found.card.labels.size();
  if (!found.card.level_values.empty()) return classes == found.card.level_values.size();
  const std::size_t least = found.card.multilabel.value_or(false) ? 1 : 2;
  return classes >= least && (labels == 0 || labels == classes);
}

std::string refusal_of_levels(const Found& found, int only) {
  if (only == -2) return why_none(found, fits);
  if (only == -1) {
    return "has none with a value for each of the " +
           std::to_string(found.card.level_values.size()) + " of the model's levels of labels";
  }
  const std::string doubt = doubt_about_levels(found.card);
  return doubt.empty() ? "" : "has levels of labels that the card says wrongly, with " + doubt;
}

/// Whether an output has the right shape but whole numbers: it is quantised by a scale that no
/// tensor tells.
bool is_quantised(const Found& found) {
  return std::any_of(found.outputs.begin(), found.outputs.end(), [&](TensorView output) {
    if (!is_whole(output) || !may_be_meant(found, output)) return false;
    output.type = npu::ElementType::kF32;
    return fits(found, output);
  });
}

std::string refusal(const Found& found) {
  const int only = only_output(found, fits);
  if (!found.card.level_values.empty()) return refusal_of_levels(found, only);
  if (only == -2) return why_none(found, fits);
  const bool is_told = found.card.task == Task::kClassify || found.card.family != Family::kAuto;
  if (only == -1 && is_told && is_quantised(found)) {
    return "has whole numbers, whose scale it does not say: export the model with an output of f32 "
           "or f16";
  }
  if (only == -1) {
    return found.card.labels.empty() ? kOtherTensors
                                     : "has none with a class for each of the " +
                                           std::to_string(found.card.labels.size()) + " labels";
  }
  return is_told || !found.card.labels.empty() ? ""
                                               : "has neither a task nor labels, and could be an "
                                                 "embedding: set model-task to classify";
}

class ClassificationDecoder : public Decoder {
 public:
  explicit ClassificationDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]),
        is_multilabel_(found.card.multilabel.value_or(false)),
        is_raw_(found.card.raw_scores.value_or(false)) {}

  Family family() const override { return Family::kClassification; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void decide();
  void make_probabilities();
  void make_softmax();

  std::size_t index_;
  TensorView made_for_;
  bool is_multilabel_, is_raw_;
  Scores scores_ = Scores::kUnknown;  // the model's, as far as frames have shown
  std::vector<float> values_;
  std::vector<std::uint32_t> order_;
};

void ClassificationDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry&,
                                   FrameSize, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[index_], made_for_);
  read_all(outputs[index_], &values_);
  if (!are_finite(values_)) return leave_undefined(answer);
  make_probabilities();
  order_.resize(values_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const std::size_t count = std::min(options.max_classes, order_.size());
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order_.begin(), end, order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return values_[a] != values_[b] ? values_[a] > values_[b] : a < b;
  });
  for (auto at = order_.begin(); at != end; ++at) {
    if (values_[*at] < options.confidence_threshold) break;
    answer->classes.push_back({*at, values_[*at]});
  }
}

/// The first frame that shows the kind decides for all, because one frame's logits may look like
/// probabilities by chance. Only values that cannot be probabilities correct it later.
void ClassificationDecoder::decide() {
  if (scores_ == Scores::kUnknown) {
    scores_ = scores_of(values_);
  }
  if (prove_logits(values_)) {
    scores_ = Scores::kLogits;
  }
}

void ClassificationDecoder::make_probabilities() {
  if (is_raw_) {
    for (float& value : values_) value = probability(value);
    return;
  }
  if (is_multilabel_) {
    for (float& value : values_) value = sigmoid(value);
    return;
  }
  decide();
  if (scores_ == Scores::kProbabilities) {
    for (float& value : values_) value = std::clamp(value, 0.0F, 1.0F);
  } else {
    make_softmax();
  }
}

void ClassificationDecoder::make_softmax() {
  const float largest = *std::max_element(values_.begin(), values_.end());
  double sum = 0;
  for (float& value : values_) {
    value = std::exp(value - largest);
    sum += static_cast<double>(value);
  }
  for (float& value : values_) value = static_cast<float>(value / sum);
}

std::unique_ptr<Decoder> make(const Found& found) {
  if (!found.card.level_values.empty()) {
    return make_level_decoder(found, static_cast<std::size_t>(only_output(found, fits)));
  }
  return std::make_unique<ClassificationDecoder>(found);
}

/// Whether the graph ends with a softmax, which its shape does not show: Ultralytics' exports do,
/// those of Hugging Face end with logits.
void name_tensors(const Found& found, TensorGroup* group) {
  const auto origin = found.card.origins.find("task");
  const bool is_row = found.outputs.size() == 1 && found.outputs.front().rank <= 2;
  if (!is_row || found.card.multilabel.value_or(false) || origin == found.card.origins.end()) {
    return;
  }
  if (origin->second == "metadata.yaml") {
    group->id = "classification-generic-softmaxed-out";
  } else if (origin->second == "config.json") {
    group->id = "classification-generic-out";
  }
  group->outputs.front().id = group->id;
  group->is_in_model_pixels = false;
}

constexpr std::array kTasks{Task::kClassify};

}  // namespace

const Contract kClassificationContract{Family::kClassification,
                                       kTasks,
                                       "[1, classes], where further sizes are 1",
                                       refusal,
                                       make,
                                       name_tensors};

}  // namespace npu::vision
