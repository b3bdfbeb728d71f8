#include "npucore/tensor.hpp"

#include <utility>

#include "base/text.hpp"
#include "core/allocation.hpp"
#include "core/device_state.hpp"
#include "npucore/error.hpp"

namespace npu {

Tensor::Tensor() = default;
Tensor::~Tensor() = default;
Tensor::Tensor(const Tensor&) = default;
Tensor& Tensor::operator=(const Tensor&) = default;

Tensor::Tensor(Tensor&& other) noexcept
    : allocation_(std::move(other.allocation_)),
      offset_(std::exchange(other.offset_, 0)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  allocation_ = std::move(other.allocation_);
  offset_ = std::exchange(other.offset_, 0);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

Tensor::Tensor(std::shared_ptr<internal::Allocation> allocation, std::size_t offset,
               std::size_t size)
    : allocation_(std::move(allocation)), offset_(offset), size_bytes_(size) {}

Tensor Tensor::allocate(const Device& device, std::size_t size_bytes, MemoryUse use,
                        bool exportable) {
  if (size_bytes == 0)
    throw Error(ErrorCode::kInvalidArgument, "Tensor::allocate: a tensor needs at least one byte");
  using Caching = ze::Memory::CpuCaching;
  auto allocation = std::make_unique<internal::Allocation>();
  allocation->device = device.state();
  allocation->memory = ze::Memory::allocate(
      device.state()->ze, size_bytes,
      use == MemoryUse::kInput ? Caching::kWriteCombined : Caching::kCached, exportable);
  allocation->size_bytes = size_bytes;
  allocation->exportable = exportable;
  return {internal::share(std::move(allocation)), 0, size_bytes};
}

std::byte* Tensor::data() const {
  return allocation_ ? allocation_->base() + offset_ : nullptr;
}

Tensor Tensor::slice(std::size_t offset, std::size_t size) const {
  if (offset > size_bytes_ || size > size_bytes_ - offset)
    throw Error(ErrorCode::kInvalidArgument,
                base::text("Tensor::slice: bytes ", offset, " to ", offset, '+', size,
                           " are not inside a tensor of ", size_bytes_, " bytes"));
  return {allocation_, offset_ + offset, size};
}

int Tensor::export_dmabuf() const {
  if (!allocation_ || !allocation_->exportable)
    throw Error(ErrorCode::kInvalidArgument,
                "Tensor::export_dmabuf: only memory that was allocated as exportable can become a "
                "DMA-BUF");
  return allocation_->device->imports.export_dmabuf(allocation_);
}

bool Tensor::is_imported() const {
  return allocation_ && allocation_->imported;
}

}  // namespace npu
