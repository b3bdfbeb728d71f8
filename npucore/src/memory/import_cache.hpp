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

#include <npucore/error.hpp>
#include <npucore/importer.hpp>

#include "allocation.hpp"

namespace npu::internal {

class ImportCache;

/// A DMA-BUF that is to stay imported as far as the device has room. One for each buffer, however
/// many keep it. All but `device` and `identity` are guarded by the cache's mutex.
struct KeptBuffer {
  KeptBuffer() = default;
  KeptBuffer(const KeptBuffer&) = delete;
  KeptBuffer& operator=(const KeptBuffer&) = delete;
  /// Makes its cache forget it.
  ~KeptBuffer();

  std::shared_ptr<Device::Impl> device;
  dmabuf::Identity identity;
  base::UniqueFd fd;  ///< keeps the buffer while it is not imported
  std::shared_ptr<Allocation> allocation;
  std::list<KeptBuffer*>::iterator turn;  ///< among all, in the order of their last use
  ImportCache* cache = nullptr;           ///< the device's, once it knows this buffer
};

/// Every buffer of one device that has a descriptor or is the application's memory: at most one
/// driver allocation per buffer and context, because freeing one of two imports would take the
/// device's mapping from both.
class ImportCache {
 public:
  using File = std::shared_ptr<const base::MappedFile>;

  /// Driver memory; the cache learns of it when it is exported. Throws Error(kOutOfMemory).
  std::shared_ptr<Allocation> allocate(const Place& place, std::size_t size_bytes,
                                       ze::Memory::CpuCaching caching, bool exportable = false);
  /// The buffer behind `fd`: what is known already (an earlier import, an own export), else a new
  /// import.
  std::shared_ptr<Allocation> import(const Place& place, int fd);
  /// What is kept of the buffer behind `fd`, which need not be imported yet.
  std::shared_ptr<KeptBuffer> keep(const std::shared_ptr<Device::Impl>& device, int fd);
  /// The kept buffer at a place on its device.
  std::shared_ptr<Allocation> import(const Place& place, KeptBuffer& buffer);
  /// Memory of the application that covers `bytes`: what is imported already, else a new import of
  /// whole pages, which keeps the file that they are of, if any. Null, and the reason, where the
  /// driver cannot or the rules of pages forbid it.
  std::shared_ptr<Allocation> import_host(const Place& place, std::span<std::byte> bytes,
                                          bool read_only, std::string& why_not, File file = {});
  /// A mapped file's pages, read-only. Null, and the reason, where the driver cannot.
  std::shared_ptr<Allocation> import_file(const Place& place, File file, std::string& why_not);
  /// A new descriptor of an exportable allocation, which this cache knows from now on.
  int export_dmabuf(const std::shared_ptr<Allocation>& allocation);
  void count_copy();
  ImportStats stats() const;

 private:
  friend struct KeptBuffer;
  using BufferKey = std::pair<const ze::DeviceContext*, dmabuf::Identity>;
  using HostKey = std::pair<const ze::DeviceContext*, std::uintptr_t>;  // of the last byte
  struct HostEntry {
    std::uintptr_t begin = 0;
    std::weak_ptr<Allocation> allocation;
  };
  struct Owner;

  std::shared_ptr<Allocation> find(std::unique_lock<std::mutex>& lock, const BufferKey& key);
  std::shared_ptr<Allocation> find_or_import(std::unique_lock<std::mutex>& lock, const Place& place,
                                             int fd);
  std::shared_ptr<Allocation> import_new(const Place& place, int fd, const BufferKey& key);
  bool evict(std::unique_lock<std::mutex>& lock);
  void make_room(std::unique_lock<std::mutex>& lock, int fd, const Error& refusal);
  void forget(KeptBuffer& buffer);
  std::shared_ptr<Allocation> find_host(std::unique_lock<std::mutex>& lock,
                                        const ze::DeviceContext& context,
                                        std::span<const std::byte> bytes);
  std::shared_ptr<Allocation> import_pages(std::unique_ptr<Allocation> allocation,
                                           std::span<std::byte> pages, std::string& why_not);
  /// The allocation, whose end goes through release() from now on, which locks: nothing that throws
  /// may follow while the mutex is held.
  std::shared_ptr<Allocation> share(std::shared_ptr<Owner> owner) noexcept;
  /// Frees the memory before anybody can import the same buffer again.
  void release(std::unique_ptr<Allocation> allocation);

  mutable std::mutex mutex_;           // guards everything here
  std::condition_variable forgotten_;  // an entry has left known_ or host_
  std::map<BufferKey, std::weak_ptr<Allocation>> known_;
  std::map<HostKey, HostEntry> host_;
  std::map<dmabuf::Identity, std::weak_ptr<KeptBuffer>> kept_;
  std::list<KeptBuffer*> kept_order_;  // longest unused first
  ImportStats stats_;
};

/// Whether the device can import `fd`: a DMA-BUF, or the memfd that stands in for one in tests.
bool takes_as_dmabuf(const Device::Impl& device, int fd);

}  // namespace npu::internal
