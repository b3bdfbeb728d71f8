#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "npucore/device.hpp"
#include "npucore/export.hpp"

namespace npu {

enum class MemoryUse {
  kInput,   ///< written by the CPU, read by the NPU
  kOutput,  ///< written by the NPU, read by the CPU
};

namespace internal {
struct Allocation;
}

/// Memory that the device reads and writes in place, and the CPU through data(). Copies and slices
/// share the allocation; it is freed with the last of them.
class NPU_API Tensor {
 public:
  Tensor();
  ~Tensor();
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;

  /// Page-aligned driver memory. `exportable` memory can be handed out with export_dmabuf().
  static Tensor allocate(const Device& device, std::size_t size_bytes, MemoryUse use,
                         bool exportable = false);

  explicit operator bool() const { return allocation_ != nullptr; }
  std::byte* data() const;
  std::size_t size_bytes() const { return size_bytes_; }
  /// `size` bytes from `offset` of this tensor, in the same memory. Throws when they are not inside
  /// it.
  Tensor slice(std::size_t offset, std::size_t size) const;
  /// A new file descriptor, which the caller closes.
  int export_dmabuf() const;
  /// Whether the memory came from a DMA-BUF of someone else.
  bool is_imported() const;

  const std::shared_ptr<internal::Allocation>& allocation() const { return allocation_; }

 private:
  friend class Importer;
  Tensor(std::shared_ptr<internal::Allocation> allocation, std::size_t offset, std::size_t size);
  std::shared_ptr<internal::Allocation> allocation_;
  std::size_t offset_ = 0;
  std::size_t size_bytes_ = 0;
};

}  // namespace npu
