#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <npucore/device.hpp>

#include "import_cache.hpp"

namespace npu::internal {

/// The ways to get memory that both is a DMA-BUF and can be read by one device. What works is found
/// out with one page, when it is first asked for.
class DmabufSources {
 public:
  explicit DmabufSources(ImportCache& imports) : imports_(imports) {}

  /// The first that works; kNone where none does.
  DmabufSource best(const std::shared_ptr<Device::Impl>& device);
  /// Of every way, in the order in which they are used.
  std::vector<Finding> findings(const std::shared_ptr<Device::Impl>& device);
  /// From the first that works and has room. Null where none has.
  std::shared_ptr<Allocation> allocate(const std::shared_ptr<Device::Impl>& device,
                                       std::size_t size_bytes, ze::Memory::CpuCaching caching);

 private:
  std::shared_ptr<Allocation> export_new(const Place& place, std::size_t size_bytes,
                                         ze::Memory::CpuCaching caching);
  std::shared_ptr<Allocation> import_new(const Place& place, DmabufSource source,
                                         std::size_t size_bytes);
  Finding try_out(const Place& place, DmabufSource source);
  Finding finding(const std::shared_ptr<Device::Impl>& device, DmabufSource source);

  ImportCache& imports_;
  std::mutex mutex_;  // guards tried_
  std::map<DmabufSource, Finding> tried_;
};

}  // namespace npu::internal
