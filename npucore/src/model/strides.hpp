#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <npucore/types.hpp>

#include "ze/recording.hpp"

namespace npu::internal {

/// A strided tensor's layout in memory.
struct StridedTensor {
  std::optional<ze::ElementStrides> strides;  ///< none for a dense tensor
  std::size_t bytes = 0;                      ///< from the first element to behind the last one
};

/// `strides_bytes` has one number for each dimension of the port, outermost first. Throws
/// Error(kInvalidArgument) for strides that no tensor of the port can have.
StridedTensor strided_tensor(const Port& port, std::span<const std::size_t> strides_bytes);

/// Copies a tensor's elements, and nothing between them, to a place with the same strides.
void copy_strided(const Port& port, const ze::ElementStrides& strides, const std::byte* from,
                  std::byte* to);

}  // namespace npu::internal
