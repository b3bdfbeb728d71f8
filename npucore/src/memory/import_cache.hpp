#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "core/allocation.hpp"
#include "npucore/error.hpp"
#include "npucore/importer.hpp"

namespace npu::internal {

/// A DMA-BUF that is to stay imported as far as the device has room. One for each buffer, however
/// many keep it. All but `device` and `identity` are guarded by the cache's mutex.
struct KeptBuffer {
  std::shared_ptr<DeviceState> device;
  dmabuf::Identity identity;
  base::UniqueFd fd;  ///< keeps the buffer while it is not imported
  std::shared_ptr<Allocation> allocation;
  std::list<KeptBuffer*>::iterator place;  ///< among all, in the order of their last use
};

/// Every buffer of one device that has a descriptor or is the application's memory: at most one
/// driver allocation per buffer and context, because freeing one of two imports would take the
/// device's mapping from both.
class ImportCache {
 public:
  /// The buffer behind `fd`: what is known already (an earlier import, an own export), else a new
  /// import.
  std::shared_ptr<Allocation> import(const std::shared_ptr<DeviceState>& device,
                                     const std::shared_ptr<const ze::DeviceContext>& context,
                                     int fd);
  /// What is kept of the buffer behind `fd`, which need not be imported yet.
  std::shared_ptr<KeptBuffer> keep(const std::shared_ptr<DeviceState>& device, int fd);
  /// The kept buffer in the device's context of now.
  std::shared_ptr<Allocation> import(KeptBuffer& buffer);
  /// Memory of the application that covers `bytes`: what is imported already, else a new import of
  /// whole pages. Null, and the reason, where the driver cannot or the rules of pages forbid it.
  std::shared_ptr<Allocation> import_host(const std::shared_ptr<DeviceState>& device,
                                          const std::shared_ptr<const ze::DeviceContext>& context,
                                          std::span<std::byte> bytes, bool read_only,
                                          std::string& why_not);
  /// A mapped file's region at `offset` of the mapping, read-only. Null, and the file left as it
  /// is, where the driver cannot.
  std::shared_ptr<Allocation> import_file(const std::shared_ptr<DeviceState>& device,
                                          const std::shared_ptr<const ze::DeviceContext>& context,
                                          base::MappedFile& file, std::string& why_not);
  /// A new descriptor of an exportable allocation, which this cache knows from now on.
  int export_dmabuf(const std::shared_ptr<Allocation>& allocation);
  void count_copy();
  ImportStats stats() const;

  /// The last owner's deleter: frees the memory before anybody can import the same buffer again.
  void release(std::unique_ptr<Allocation> allocation);

 private:
  using BufferKey = std::pair<const ze::DeviceContext*, dmabuf::Identity>;
  using HostKey = std::pair<const ze::DeviceContext*, std::uintptr_t>;  // of the last byte
  struct HostEntry {
    std::uintptr_t begin = 0;
    bool read_only = false;
    std::weak_ptr<Allocation> allocation;
  };

  std::shared_ptr<Allocation> find(std::unique_lock<std::mutex>& lock, const BufferKey& key);
  std::shared_ptr<Allocation> find_or_import(
      std::unique_lock<std::mutex>& lock, const std::shared_ptr<DeviceState>& device,
      const std::shared_ptr<const ze::DeviceContext>& context, int fd);
  bool evict(std::unique_lock<std::mutex>& lock);
  void make_room(std::unique_lock<std::mutex>& lock, int fd, const Error& refusal);
  void forget(KeptBuffer& buffer);
  std::shared_ptr<Allocation> import_new(const std::shared_ptr<DeviceState>& device,
                                         const std::shared_ptr<const ze::DeviceContext>& context,
                                         int fd, const BufferKey& key);
  std::shared_ptr<Allocation> find_host(std::unique_lock<std::mutex>& lock,
                                        const ze::DeviceContext& context,
                                        std::span<std::byte> bytes, bool read_only,
                                        std::string& why_not);
  std::shared_ptr<Allocation> import_pages(std::unique_ptr<Allocation> allocation,
                                           std::span<std::byte> pages, std::string& why_not);

  mutable std::mutex mutex_;           // guards everything here
  std::condition_variable forgotten_;  // an entry has left known_ or host_
  std::map<BufferKey, std::weak_ptr<Allocation>> known_;
  std::map<HostKey, HostEntry> host_;
  std::map<dmabuf::Identity, std::weak_ptr<KeptBuffer>> kept_;
  std::list<KeptBuffer*> kept_order_;  // longest unused first
  ImportStats stats_;
};

/// Whether `fd` is a DMA-BUF. Tests may let a memfd stand in for one.
bool takes_as_dmabuf(const DeviceState& device, int fd);

/// Shares an allocation in such a way that its end goes through the device's import cache.
std::shared_ptr<Allocation> share(std::unique_ptr<Allocation> allocation);

}  // namespace npu::internal
