#pragma once

#include <cstddef>
#include <utility>

#include "device_context.hpp"

namespace npu::ze {

/// One allocation or import of a context.
class Memory {
 public:
  enum class CpuCaching { kWriteCombined, kCached };

  /// Page-aligned; `exportable` memory can become a DMA-BUF.
  static Memory allocate(const DeviceContext& device, std::size_t size_bytes, CpuCaching caching,
                         bool exportable);
  /// Imports the DMA-BUF behind `fd`, which stays the caller's. At most one import per buffer and
  /// context may live: freeing one of two removes the device's mapping of both.
  static Memory import_dmabuf(const DeviceContext& device, int fd, std::size_t size_bytes);

  /// Imports whole pages of the application, which keeps them mapped as long as the object lives.
  /// Needs DeviceContext::imports_host_memory. Two imports of a context must not overlap.
  static Memory import_host(const DeviceContext& device, void* pages, std::size_t size_bytes,
                            bool read_only);

  Memory() = default;
  Memory(Memory&& other) noexcept
      : device_(other.device_),
        address_(std::exchange(other.address_, nullptr)),
        size_bytes_(other.size_bytes_) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  /// Drops the recordings that name it.
  ~Memory();

  /// Valid for the CPU too.
  void* address() const { return address_; }
  /// A new file descriptor, which the caller closes.
  int export_dmabuf() const;

 private:
  Memory(const DeviceContext& device, void* address, std::size_t size_bytes)
      : device_(&device), address_(address), size_bytes_(size_bytes) {}
  const DeviceContext* device_ = nullptr;
  void* address_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace npu::ze
