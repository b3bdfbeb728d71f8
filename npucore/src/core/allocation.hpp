#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/unique_fd.hpp"
#include "dmabuf/dmabuf.hpp"
#include "ze/memory.hpp"

namespace npu::internal {

struct DeviceState;

/// One piece of device memory, shared by the tensors in it.
struct Allocation {
  std::shared_ptr<DeviceState> device;
  ze::Memory memory;
  std::size_t size_bytes = 0;
  bool imported = false;
  bool exportable = false;
  /// Of the buffer, when it was imported or has been exported: keeps the buffer, and with it its
  /// identity, from being given to another one.
  base::UniqueFd fd;
  std::optional<dmabuf::Identity> identity;  ///< as the import cache knows it

  std::byte* base() const { return static_cast<std::byte*>(memory.address()); }
};

}  // namespace npu::internal
