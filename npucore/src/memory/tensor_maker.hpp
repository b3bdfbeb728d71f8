#pragma once

#include <utility>

#include <npucore/tensor.hpp>

#include "allocation.hpp"

namespace npu::internal {

/// Makes tensors of allocations; applications cannot.
struct TensorMaker {
  static Tensor make(std::shared_ptr<Allocation> allocation, std::size_t offset, std::size_t size) {
    return {std::move(allocation), offset, size};
  }
  static Tensor make(std::shared_ptr<Allocation> allocation) {
    const std::size_t size = allocation->size_bytes;
    return {std::move(allocation), 0, size};
  }
};

}  // namespace npu::internal
