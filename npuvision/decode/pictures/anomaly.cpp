// Anomalib's models: how much a picture deviates from normal ones, and where.
#include <algorithm>
#include <array>
#include <cmath>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

bool is_map(const TensorView& output) {
  return is_float(output) && (has_shape(output, {1, 1, 0, 0}) || has_shape(output, {1, 0, 0}));
}

bool fits(const Found&, const TensorView& output) {
  return is_map(output);
}

bool is_score(const TensorView& output) {
  return is_float(output) && (has_shape(output, {1}) || has_shape(output, {1, 1}));
}

/// Outputs of Anomalib 2 by their names; the graph normalises them.
struct Normalised {
  int map = -1, score = -1;
  bool is_complete() const { return map >= 0 && score >= 0; }
};

Normalised normalised_of(const Found& found) {
  Normalised parts;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const TensorView& output = found.outputs[i];
    if (output.name == "anomaly_map" && is_map(output)) {
      parts.map = static_cast<int>(i);
    } else if (output.name == "pred_score" && is_score(output)) {
      parts.score = static_cast<int>(i);
    }
  }
  return parts;
}

bool has_thresholds(const ModelCard& card) {
  return card.image_threshold && card.pixel_threshold && card.normalization_scale &&
         std::isfinite(*card.image_threshold) && std::isfinite(*card.pixel_threshold) &&
         std::isfinite(*card.normalization_scale) && *card.normalization_scale > 0;
}

std::string refusal(const Found& found) {
  if (normalised_of(found).is_complete()) return "";
  const int only = only_output(found, fits);
  if (only < 0) return why_none(found, fits);
  if (found.card.task != Task::kAnomaly && found.card.family != Family::kAnomaly) {
    return "could be another map: set model-task to anomaly";
  }
  const TensorView& map = found.outputs[static_cast<std::size_t>(only)];
  if (!has_proportions(map, found.input)) return kOtherProportions;
  return has_thresholds(found.card)
             ? ""
             : "comes without image_threshold, pixel_threshold and normalization_scale";
}

class AnomalyDecoder : public Decoder {
 public:
  explicit AnomalyDecoder(const Found& found)
      : normalised_(normalised_of(found)),
        map_index_(static_cast<std::size_t>(normalised_.is_complete() ? normalised_.map
                                                                      : only_output(found, fits))),
        made_for_(found.outputs.begin(), found.outputs.end()),
        image_threshold_(found.card.image_threshold.value_or(0)),
        pixel_threshold_(found.card.pixel_threshold.value_or(0)),
        scale_(found.card.normalization_scale.value_or(1)) {}

  Family family() const override { return Family::kAnomaly; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  float normalise(float value, float threshold) const {
    return std::clamp((value - threshold) / scale_ + 0.5F, 0.0F, 1.0F);
  }
  /// False where the score is NaN.
  bool take_score(std::span<const TensorView> outputs, Answer* answer);

  Normalised normalised_;
  std::size_t map_index_;
  std::vector<TensorView> made_for_;
  float image_threshold_, pixel_threshold_, scale_;
  std::vector<float> values_, score_;
};

void AnomalyDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                            FrameSize frame, const DecodeOptions&, Answer* answer) {
  answer->clear();
  const TensorView& map = outputs[map_index_];
  check_memory(map, made_for_[map_index_]);
  read_all(map, &values_);
  if (!are_finite(values_)) return leave_undefined(answer);
  if (normalised_.is_complete()) {
    if (!take_score(outputs, answer)) return leave_undefined(answer);
    for (float& value : values_) value = probability(value);
  } else {
    answer->anomaly =
        normalise(*std::max_element(values_.begin(), values_.end()), image_threshold_);
    for (float& value : values_) value = normalise(value, pixel_threshold_);
  }
  const std::size_t width = map.dims.at(map.rank - 1), height = map.dims.at(map.rank - 2);
  give_window(values_, width, window_of(geometry, frame, width, height), &answer->value_map);
}

bool AnomalyDecoder::take_score(std::span<const TensorView> outputs, Answer* answer) {
  const auto index = static_cast<std::size_t>(normalised_.score);
  check_memory(outputs[index], made_for_[index]);
  read_all(outputs[index], &score_);
  if (!are_finite(score_)) return false;
  answer->anomaly = probability(score_.front());
  return true;
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<AnomalyDecoder>(found);
}

constexpr std::array kTasks{Task::kAnomaly};

}  // namespace

const Contract kAnomalyContract{Family::kAnomaly, kTasks,
                                "a map [1, 1, height, width], or anomaly_map with pred_score",
                                refusal, make};

}  // namespace npu::vision
