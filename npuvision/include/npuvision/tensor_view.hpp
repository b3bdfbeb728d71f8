#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <npucore/tensor.hpp>

namespace npu::vision {

/// One output of a model in memory; everything is borrowed.
struct NPU_API TensorView {
  static constexpr std::size_t kMaxRank = 8;

  std::string_view name;
  npu::ElementType type = npu::ElementType::kUnknown;
  std::size_t rank = 0;
  std::array<std::size_t, kMaxRank> dims{};           ///< elements, outermost first
  std::array<std::size_t, kMaxRank> strides_bytes{};  ///< from one element to the next
  const std::byte* data = nullptr;
  std::size_t size_bytes = 0;  ///< readable bytes from `data`

  /// `"output0" f32 [1,84,8400]`
  std::string describe() const;
};

/// The view of a model's output, by its first tensor name, and of its tensor's dense data; borrows
/// both. Dimensions that are not known are 0. Throws Error(kUnsupported) for more than kMaxRank.
NPU_API TensorView view_of(const npu::Port& port, const npu::Tensor& tensor = {});

}  // namespace npu::vision
