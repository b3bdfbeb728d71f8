#pragma once

#include <memory>

#include "dmabuf_sources.hpp"
#include "import_cache.hpp"

namespace npu::internal {

/// What this room keeps for one device.
struct Buffers {
  ImportCache imports;
  DmabufSources sources{imports};
};
Buffers& buffers_of(const std::shared_ptr<Device::Impl>& device);

/// The same memory where a device can reach it from `place`: itself, or imported once more after
/// its own context was lost. Null for memory that the driver made and nobody exported: it stays
/// readable and writable for the CPU only.
std::shared_ptr<Allocation> reach_from(const std::shared_ptr<Allocation>& allocation,
                                       const Place& place);

}  // namespace npu::internal
