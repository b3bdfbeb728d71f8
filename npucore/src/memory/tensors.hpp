#pragma once

#include <memory>
#include <utility>

#include <npucore/tensor.hpp>

#include "base/pimpl.hpp"

#include "allocation.hpp"

// Conversions between tensors and the allocations that they share.
namespace npu::internal {

inline const std::shared_ptr<Allocation>& allocation_of(const Tensor& tensor) {
  return Pimpl::of(tensor);
}

inline Tensor make_tensor(std::shared_ptr<Allocation> allocation, std::size_t offset,
                          std::size_t size) {
  return Pimpl::make<Tensor>(std::move(allocation), offset, size);
}

inline Tensor whole_tensor(std::shared_ptr<Allocation> allocation) {
  const std::size_t size = allocation->size_bytes;
  return make_tensor(std::move(allocation), 0, size);
}

}  // namespace npu::internal
