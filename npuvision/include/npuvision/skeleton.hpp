#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <npucore/types.hpp>
#include <npuvision/model_card.hpp>

namespace npu::vision {

/// Pairs of key points between which a line is drawn.
using Skeleton = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The card's own; else that of 17 points of a person in COCO's order, unless the card's names are
/// others, of a hand's 21 and of a face's 68, where a name or a label of the card says that it is
/// one. Empty: nothing is known. Pairs beyond `key_points`, the number that an object has, are left
/// out.
NPU_API Skeleton skeleton_of(const ModelCard& card, std::size_t key_points);

}  // namespace npu::vision
