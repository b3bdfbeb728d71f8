#pragma once

#include <memory>

#include "dmabuf_sources.hpp"
#include "import_cache.hpp"

namespace npu::internal {

/// This room's state for one device.
struct Buffers {
  ImportCache imports;
  DmabufSources sources{imports};
};
Buffers& buffers_of(const std::shared_ptr<Device::Impl>& device);

/// The same memory as a device reaches it from `place`: the allocation itself, or a new import if
/// its own context was lost. Null for driver memory that nobody exported: only the CPU can still
/// read and write it.
std::shared_ptr<Allocation> reach_from(const std::shared_ptr<Allocation>& allocation,
                                       const Place& place);

}  // namespace npu::internal
