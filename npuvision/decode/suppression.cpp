#include "suppression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace npu::vision {
namespace {

float area(const Corners& box, float margin) {
  return (box[2] - box[0] + margin) * (box[3] - box[1] + margin);
}

/// OpenVINO's CPU plugin orders equal scores by class.
bool is_better_by_class(const Detection& one, const Detection& other) {
  if (one.score != other.score) return one.score > other.score;
  return one.label != other.label ? one.label < other.label : one.box < other.box;
}

/// Decay of a score for one better box; `highest` is that box's own overlap with a better one.
float decay_of(float overlap, float highest, const std::optional<float>& sigma) {
  constexpr float kTiny = 1e-10F;
  if (sigma) return std::exp((highest * highest - overlap * overlap) * *sigma);
  return (1 - overlap) / (1 - highest + kTiny);
}

}  // namespace

bool is_better(const Detection& one, const Detection& other) {
  if (one.score != other.score) return one.score > other.score;
  return one.box != other.box ? one.box < other.box : one.label < other.label;
}

float overlap(const Corners& a, const Corners& b, float margin) {
  const float one = area(a, margin), other = area(b, margin);
  if (!(one > 0 && other > 0)) return 0;
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]) + margin;
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]) + margin;
  const float shared = std::max(width, 0.0F) * std::max(height, 0.0F);
  return shared / (one + other - shared);
}

bool Suppressor::is_covered(std::span<const Detection> found, std::uint32_t candidate,
                            const Suppression& options) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](std::uint32_t better) {
    const bool counts = options.is_class_agnostic || found[better].label == found[candidate].label;
    return counts &&
           overlap(corners_[better], corners_[candidate], options.margin) >= options.iou_threshold;
  });
}

void Suppressor::suppress(std::vector<Detection>* found, const Suppression& options) {
  order_.resize(found->size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto comes_first = options.is_class_agnostic ? is_better : is_better_by_class;
  std::sort(order_.begin(), order_.end(),
            [&](auto one, auto other) { return comes_first((*found)[one], (*found)[other]); });
  kept_.clear();
  result_.clear();
  of_class_.clear();
  for (const std::uint32_t candidate : order_) {
    if (kept_.size() >= options.most) break;
    const std::uint32_t label = (*found)[candidate].label;
    if (options.most_of_class < Suppression::kAll) {
      of_class_.resize(std::max<std::size_t>(of_class_.size(), label + std::size_t{1}));
      if (of_class_[label]++ >= options.most_of_class) continue;
    }
    if (is_covered(*found, candidate, options)) continue;
    kept_.push_back(candidate);
    result_.push_back((*found)[candidate]);
  }
  found->swap(result_);
}

void Suppressor::decay_class(std::span<const Detection> found,
                             std::span<const std::uint32_t> best_first, const Decay& options) {
  highest_.assign(best_first.size(), 0);
  for (std::size_t i = 0; i < best_first.size(); ++i) {
    float least = 1;
    for (std::size_t j = 0; j < i; ++j) {
      const float shared =
          overlap(corners_[best_first[i]], corners_[best_first[j]], options.limits.margin);
      highest_[i] = std::max(highest_[i], shared);
      least = std::min(least, decay_of(shared, highest_[j], options.gaussian_sigma));
    }
    Detection one = found[best_first[i]];
    one.score *= least;
    if (one.score > options.lowest) {
      result_.push_back(one);
    }
  }
}

void Suppressor::decay(std::vector<Detection>* found, const Decay& options) {
  order_.resize(found->size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&](auto a, auto b) {
    const Detection &one = (*found)[a], &other = (*found)[b];
    return one.label != other.label ? one.label < other.label : is_better(one, other);
  });
  result_.clear();
  for (std::size_t first = 0; first < order_.size();) {
    std::size_t end = first;
    while (end < order_.size() && (*found)[order_[end]].label == (*found)[order_[first]].label) {
      ++end;
    }
    const std::size_t count = std::min(end - first, options.limits.most_of_class);
    decay_class(*found, std::span(order_).subspan(first, count), options);
    first = end;
  }
  finish(found, options.limits.most);
}

void Suppressor::finish(std::vector<Detection>* found, std::size_t most) {
  std::sort(result_.begin(), result_.end(), is_better);
  result_.resize(std::min(result_.size(), most));
  found->swap(result_);
}

}  // namespace npu::vision
