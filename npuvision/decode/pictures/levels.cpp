#include "levels.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::uint32_t label_count(const ModelCard& card) {
  std::uint32_t most = 0;
  for (const auto& [group, label] : card.level_values) most = std::max(most, label);
  for (const auto& [label, parent] : card.level_parents) most = std::max({most, label, parent});
  return most + 1;
}

/// Parent of each label; kNone at the top.
std::vector<std::uint32_t> parents_of(const ModelCard& card) {
  std::vector<std::uint32_t> parents(label_count(card), kNone);
  for (const auto& [label, parent] : card.level_parents) parents[label] = parent;
  return parents;
}

bool has_cycle(const std::vector<std::uint32_t>& parents) {
  for (std::uint32_t label : parents) {
    for (std::size_t steps = 0; label != kNone; label = parents[label]) {
      if (++steps > parents.size()) return true;
    }
  }
  return false;
}

std::string doubt_about_values(const ModelCard& card) {
  std::vector<bool> seen(label_count(card));
  std::uint32_t next = 0;
  for (const auto& [group, label] : card.level_values) {
    if (group != next && group + 1 != next) return "groups of values that are not in order";
    if (group != next && group >= card.exclusive_groups) return "two labels of one question";
    next = group + 1;
    if (seen[label]) return "two values of one label";
    seen[label] = true;
  }
  return next < card.exclusive_groups ? "fewer groups than labels exclude each other in" : "";
}

/// Follows the Model API's rules; its "greedy" and "probabilistic" modes give the same labels and
/// scores. Chooses the likeliest label of each group, and independent labels above the threshold;
/// of these, labels count only if all their parents do.
/// https://github.com/open-edge-platform/model_api/blob/master/src/model_api/models/classification.py
class LevelDecoder : public Decoder {
 public:
  LevelDecoder(const ModelCard& card, const TensorView& made_for, std::size_t output)
      : output_(output),
        made_for_(made_for),
        values_of_(card.level_values),
        exclusive_(card.exclusive_groups),
        parents_(parents_of(card)),
        scores_(parents_.size()) {}

  Family family() const override { return Family::kClassification; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void choose(float threshold);
  void choose_best(std::size_t first, std::size_t end);
  bool is_there(std::uint32_t label) const;

  std::size_t output_;
  TensorView made_for_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> values_of_;  // group, label
  std::uint32_t exclusive_;
  std::vector<std::uint32_t> parents_;
  std::vector<float> values_, scores_;  // by label; 0: not chosen
};

void LevelDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry&, FrameSize,
                          const DecodeOptions& options, Answer* answer) {
  answer->clear();
  check_memory(outputs[output_], made_for_);
  read_all(outputs[output_], &values_);
  if (!are_finite(values_)) return leave_undefined(answer);
  choose(options.confidence_threshold);
  for (std::uint32_t label = 0; label < scores_.size(); ++label) {
    if (is_there(label)) {
      answer->classes.push_back({label, scores_[label]});
    }
  }
  std::sort(answer->classes.begin(), answer->classes.end(), [](const auto& a, const auto& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.label_id < b.label_id;
  });
  answer->classes.resize(std::min(answer->classes.size(), options.max_classes));
}

void LevelDecoder::choose(float threshold) {
  std::fill(scores_.begin(), scores_.end(), 0.0F);
  for (std::size_t first = 0; first < values_of_.size();) {
    std::size_t end = first;
    while (end < values_of_.size() && values_of_[end].first == values_of_[first].first) ++end;
    if (values_of_[first].first < exclusive_) {
      choose_best(first, end);
    } else if (const float score = sigmoid(values_[first]); score > threshold) {
      scores_[values_of_[first].second] = score;
    }
    first = end;
  }
}

/// Chooses the best label, scored by the softmax.
void LevelDecoder::choose_best(std::size_t first, std::size_t end) {
  std::size_t best = first;
  for (std::size_t i = first; i < end; ++i) best = values_[i] > values_[best] ? i : best;
  double sum = 0;
  for (std::size_t i = first; i < end; ++i) {
    sum += std::exp(static_cast<double>(values_[i]) - values_[best]);
  }
  scores_[values_of_[best].second] = static_cast<float>(1 / sum);
}

bool LevelDecoder::is_there(std::uint32_t label) const {
  for (; label != kNone; label = parents_[label]) {
    if (scores_[label] <= 0) return false;
  }
  return true;
}

}  // namespace

std::string doubt_about_levels(const ModelCard& card) {
  const std::size_t labels = card.labels.size();
  if (labels > 0 && label_count(card) > labels) {
    return "a label " + std::to_string(label_count(card) - 1) + " of " + std::to_string(labels);
  }
  std::vector<bool> has_parent(label_count(card));
  for (const auto& [label, parent] : card.level_parents) {
    if (has_parent[label]) return "a label below two others";
    has_parent[label] = true;
  }
  if (has_cycle(parents_of(card))) return "a label below itself";
  return doubt_about_values(card);
}

std::unique_ptr<Decoder> make_level_decoder(const Found& found, std::size_t output) {
  return std::make_unique<LevelDecoder>(found.card, found.outputs[output], output);
}

}  // namespace npu::vision
