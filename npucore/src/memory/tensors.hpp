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

/// The first `size_bytes` of a tensor as elements of a type. `is_dense`: they lie without strides.
inline Tensor typed_tensor(const Tensor& tensor, std::size_t size_bytes, ElementType type,
                           bool is_dense) {
  const auto& allocation = allocation_of(tensor);
  const auto offset = static_cast<std::size_t>(tensor.data() - allocation->base());
  return Pimpl::make<Tensor>(allocation, offset, size_bytes, tensor.is_read_only(), type, is_dense);
}

inline Tensor whole_tensor(std::shared_ptr<Allocation> allocation) {
  const std::size_t size = allocation->size_bytes;
  return make_tensor(std::move(allocation), 0, size);
}

/// The same bytes, as an input only: a DMA-BUF is imported once for all that use it.
inline Tensor as_input_only(const Tensor& tensor) {
  const auto& allocation = allocation_of(tensor);
  const auto offset = static_cast<std::size_t>(tensor.data() - allocation->base());
  return Pimpl::make<Tensor>(allocation, offset, tensor.size_bytes(), true);
}

}  // namespace npu::internal
