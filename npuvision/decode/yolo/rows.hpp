// Reads the boxes of a YOLO tensor: a row of values for each, in either memory layout.
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

/// Views a tensor [1, values, boxes] or [1, boxes, values], whose memory has been checked.
BoxRows rows_of(const TensorView& tensor, bool channels_first);

/// Best class for each of some boxes; with equal scores the first class, as in PyTorch's max.
struct BestScores {
  static constexpr std::size_t kBlock = 512;  ///< boxes

  std::array<float, kBlock> score;  ///< minus infinity where every score is NaN
  std::array<std::uint32_t, kBlock> label;
  std::array<float, kBlock> row;  ///< scratch: the scores of one class

  /// Finds them for `count` boxes from `first_box` on, whose scores are `classes` values from
  /// `first_value` on.
  void find(const BoxRows& rows, std::size_t first_box, std::size_t count, std::size_t first_value,
            std::size_t classes);
};

struct BestScore {
  float score;
  std::uint32_t label;
};

/// Finds the best class of one box.
BestScore best_score(const BoxRows& rows, std::size_t box, std::size_t first_value,
                     std::size_t classes);

}  // namespace npu::vision
