#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <npucore/types.hpp>
#include <npuvision/model_card.hpp>

namespace npu::vision {

/// Pairs of key points to join by a line.
using Skeleton = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The card's own skeleton; else that of 17 key points of a person in COCO's order, unless the card
/// names other points; else that of a hand's 21 or a face's 68, if a name or label in the card says
/// so. Empty: not known. Pairs beyond `key_points`, the number of an object's points, are left out.
NPU_API Skeleton skeleton_of(const ModelCard& card, std::size_t key_points);

}  // namespace npu::vision
