// The boxes of a YOLO tensor: each has a row of values, however they lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <npuvision/tensor_view.hpp>

namespace npu::vision {

struct BoxRows {
  npu::ElementType type = npu::ElementType::kF32;  ///< kF32 or kF16
  std::size_t boxes = 0, values = 0;
  std::size_t box_stride_bytes = 0;    ///< from one box to the next
  std::size_t value_stride_bytes = 0;  ///< from one value of a box to the next
  const std::byte* data = nullptr;

  float at(std::size_t box, std::size_t value) const;
};

/// Of a tensor [1, values, boxes], or [1, boxes, values], whose memory has been checked.
BoxRows rows_of(const TensorView& tensor, bool channels_first);

/// The best class of each of some boxes; of classes with one score the first, as PyTorch's max.
struct BestScores {
  static constexpr std::size_t kBlock = 512;  ///< boxes

  std::array<float, kBlock> score;  ///< minus infinity where every score is NaN
  std::array<std::uint32_t, kBlock> label;
  std::array<float, kBlock> row;  ///< scratch: the scores of one class

  /// Of `count` boxes from `first_box` on, whose scores are `classes` values from `first_value` on.
  void find(const BoxRows& rows, std::size_t first_box, std::size_t count, std::size_t first_value,
            std::size_t classes);
};

struct BestScore {
  float score;
  std::uint32_t label;
};

/// The same of one box.
BestScore best_score(const BoxRows& rows, std::size_t box, std::size_t first_value,
                     std::size_t classes);

}  // namespace npu::vision
