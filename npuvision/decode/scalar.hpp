// Loads floating-point elements of tensors from any address.
#pragma once

#include <cstddef>
#include <cstring>

#include <npucore/types.hpp>

namespace npu::vision {

/// A float or a Half.
template <typename Scalar>
float load(const std::byte* from) {
  Scalar value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace npu::vision
