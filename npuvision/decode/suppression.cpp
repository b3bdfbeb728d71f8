#include "suppression.hpp"

#include <algorithm>
#include <numeric>

namespace npu::vision {
namespace {

float area(const Corners& box) {
  return (box[2] - box[0]) * (box[3] - box[1]);
}

}  // namespace

bool is_better(const Detection& one, const Detection& other) {
  if (one.score != other.score) return one.score > other.score;
  return one.box != other.box ? one.box < other.box : one.label < other.label;
}

float overlap(const Corners& a, const Corners& b) {
  const float one = area(a), other = area(b);
  if (!(one > 0 && other > 0)) return 0;
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float shared = std::max(width, 0.0F) * std::max(height, 0.0F);
  return shared / (one + other - shared);
}

void Suppressor::sort(const std::vector<Detection>& found) {
  order_.resize(found.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(),
            [&](auto one, auto other) { return is_better(found[one], found[other]); });
}

void Suppressor::suppress(std::vector<Detection>* found, float iou_threshold, std::size_t most,
                          Across across) {
  sort(*found);
  kept_.clear();
  result_.clear();
  for (const std::uint32_t candidate : order_) {
    if (kept_.size() >= most) break;
    const bool is_covered = std::any_of(kept_.begin(), kept_.end(), [&](std::uint32_t better) {
      const bool counts =
          across == Across::kAllClasses || (*found)[better].label == (*found)[candidate].label;
      return counts && overlap(corners_[better], corners_[candidate]) >= iou_threshold;
    });
    if (!is_covered) {
      kept_.push_back(candidate);
      result_.push_back((*found)[candidate]);
    }
  }
  found->swap(result_);
}

}  // namespace npu::vision
