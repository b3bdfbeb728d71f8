#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <npucore/device.hpp>

#include "import_cache.hpp"

namespace npu::internal {

/// The ways to get memory that is a DMA-BUF and that one device can read. The first request tries
/// each with one page.
class DmabufSources {
 public:
  explicit DmabufSources(ImportCache& imports) : imports_(imports) {}

  /// The first that works; kNone if none does.
  DmabufSource best(const std::shared_ptr<Device::Impl>& device);
  /// The findings about every way, in the order of use.
  std::vector<Finding> findings(const std::shared_ptr<Device::Impl>& device);
  /// Allocates from the first that works and has room. Null if none has.
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
