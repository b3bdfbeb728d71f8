#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/allocation.hpp"
#include "npucore/device.hpp"

namespace npu::internal {

/// The ways to get memory that both is a DMA-BUF and can be read by one device. What works is found
/// out with one page, when it is first asked for.
class DmabufSources {
 public:
  /// The first that works; kNone where none does.
  DmabufSource best(const std::shared_ptr<DeviceState>& device);
  /// Of every way, in the order in which they are used.
  std::vector<Finding> findings(const std::shared_ptr<DeviceState>& device);
  /// From the first that works and has room. Null where none has.
  std::shared_ptr<Allocation> allocate(const std::shared_ptr<DeviceState>& device,
                                       std::size_t size_bytes, ze::Memory::CpuCaching caching);

 private:
  Finding finding(const std::shared_ptr<DeviceState>& device, DmabufSource source);

  std::mutex mutex_;  // guards tried_
  std::map<DmabufSource, Finding> tried_;
};

}  // namespace npu::internal
