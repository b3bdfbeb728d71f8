#include <algorithm>
#include <string>
#include <string_view>

#include <npuvision/skeleton.hpp>

#include "value.hpp"

namespace npu::vision {
namespace {

/// A range of points, each joined to the next.
struct Chain {
  std::uint32_t first, last;
  bool is_closed = false;
};

void append(Skeleton* skeleton, const Chain& chain) {
  for (std::uint32_t i = chain.first; i < chain.last; ++i) skeleton->emplace_back(i, i + 1);
  if (chain.is_closed) {
    skeleton->emplace_back(chain.last, chain.first);
  }
}

/// COCO's 17 key points (cocodataset.org, person_keypoints).
Skeleton person() {
  return {{15, 13}, {13, 11}, {16, 14}, {14, 12}, {11, 12}, {5, 11}, {6, 12},
          {5, 6},   {5, 7},   {6, 8},   {7, 9},   {8, 10},  {1, 2},  {0, 1},
          {0, 2},   {1, 3},   {2, 4},   {3, 5},   {4, 6}};
}

/// The wrist, and four points of each finger starting at the palm (MediaPipe, COCO-WholeBody, and
/// Ultralytics' hand-keypoints).
Skeleton hand() {
  Skeleton skeleton;
  for (std::uint32_t finger = 1; finger < 21; finger += 4) {
    skeleton.emplace_back(0, finger);
    append(&skeleton, {finger, finger + 3});
  }
  return skeleton;
}

/// The 68 points of iBUG's 300-W: jaw, brows, bridge and base of the nose, eyes, outer and inner
/// lips.
Skeleton face() {
  Skeleton skeleton;
  for (const Chain& chain : {Chain{0, 16},
                             {17, 21},
                             {22, 26},
                             {27, 30},
                             {31, 35},
                             {36, 41, true},
                             {42, 47, true},
                             {48, 59, true},
                             {60, 67, true}}) {
    append(&skeleton, chain);
  }
  return skeleton;
}

bool has(const std::string& text, std::string_view word) {
  return lower(text).find(word) != std::string::npos;
}

bool is_of(const ModelCard& card, std::string_view thing) {
  return std::any_of(card.labels.begin(), card.labels.end(),
                     [&](const std::string& label) { return has(label, thing); });
}

bool begins_with(const ModelCard& card, std::string_view name) {
  return !card.key_point_names.empty() && has(card.key_point_names.front(), name);
}

Skeleton known_by_number(const ModelCard& card, std::size_t key_points) {
  switch (key_points) {
    case 17:
      return card.key_point_names.empty() || begins_with(card, "nose") ? person() : Skeleton();
    case 21:
      return is_of(card, "hand") || begins_with(card, "wrist") ? hand() : Skeleton();
    case 68:
      return is_of(card, "face") ? face() : Skeleton();
    default:
      return {};
  }
}

}  // namespace

Skeleton skeleton_of(const ModelCard& card, std::size_t key_points) {
  Skeleton skeleton = card.skeleton.empty() ? known_by_number(card, key_points) : card.skeleton;
  std::erase_if(skeleton, [key_points](const auto& bone) {
    return bone.first >= key_points || bone.second >= key_points;
  });
  return skeleton;
}

}  // namespace npu::vision
