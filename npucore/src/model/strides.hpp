#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "npucore/types.hpp"

namespace npu::internal {

/// As the driver wants them: in elements, innermost first; what the rank lacks is 0.
using ElementStrides = std::array<std::uint32_t, 5>;

struct StridedTensor {
  std::optional<ElementStrides> strides;  ///< none for a dense tensor
  std::size_t bytes = 0;                  ///< from the first element to behind the last one
};

/// `strides_bytes` has one number for each dimension of the port, outermost first. Throws
/// Error(kInvalidArgument) for what no tensor of the port can have.
StridedTensor strided_tensor(const Port& port, std::span<const std::size_t> strides_bytes);

}  // namespace npu::internal
