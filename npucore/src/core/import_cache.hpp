#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "core/allocation.hpp"
#include "npucore/importer.hpp"

namespace npu::internal {

/// Every buffer of one context that has a descriptor: at most one driver allocation per buffer,
/// because freeing one of two imports would take the device's mapping from both.
class ImportCache {
 public:
  /// The buffer behind `fd`: what is known already (an earlier import, an own export), else a new
  /// import.
  std::shared_ptr<Allocation> import(const std::shared_ptr<DeviceState>& device, int fd);
  /// A new descriptor of an exportable allocation, which this cache knows from now on.
  int export_dmabuf(const std::shared_ptr<Allocation>& allocation);
  ImportStats stats() const;

  /// The last owner's deleter: frees the memory before anybody can import the same buffer again.
  void release(std::unique_ptr<Allocation> allocation);

 private:
  std::shared_ptr<Allocation> find(std::unique_lock<std::mutex>& lock,
                                   const dmabuf::Identity& identity);
  std::shared_ptr<Allocation> import_new(const std::shared_ptr<DeviceState>& device, int fd,
                                         const dmabuf::Identity& identity);

  mutable std::mutex mutex_;           // guards everything here
  std::condition_variable forgotten_;  // an entry has left known_
  std::map<dmabuf::Identity, std::weak_ptr<Allocation>> known_;
  ImportStats stats_;
};

/// Shares an allocation in such a way that its end goes through the device's import cache.
std::shared_ptr<Allocation> share(std::unique_ptr<Allocation> allocation);

}  // namespace npu::internal
