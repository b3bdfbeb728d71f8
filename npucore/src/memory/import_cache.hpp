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

/// A DMA-BUF that stays imported as long as the device has room: one object for each buffer, shared
/// by all who keep it. The cache's mutex guards all but `device` and `identity`.
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
  std::list<KeptBuffer*>::iterator turn;  ///< in the order of last use
  ImportCache* cache = nullptr;           ///< set once the cache knows this buffer
};

/// Every buffer of one device that has a descriptor or is the application's memory. There is at
/// most one driver allocation per buffer and context, because freeing one of two imports would
/// remove the device's mapping of both.
class ImportCache {
 public:
  using File = std::shared_ptr<const base::MappedFile>;

  /// Driver memory; the cache learns of it when it is exported. Throws Error(kOutOfMemory).
  std::shared_ptr<Allocation> allocate(const Place& place, std::size_t size_bytes,
                                       ze::Memory::CpuCaching caching, bool exportable = false);
  /// The buffer behind `fd`: an earlier import, an own export, else a new import.
  std::shared_ptr<Allocation> import(const Place& place, int fd);
  /// The kept object for the buffer behind `fd`, which need not be imported yet.
  std::shared_ptr<KeptBuffer> keep(const std::shared_ptr<Device::Impl>& device, int fd);
  /// Imports the kept buffer at a place on its device.
  std::shared_ptr<Allocation> import(const Place& place, KeptBuffer& buffer);
  /// The application's memory that covers `bytes`: an earlier import, else a new one of whole
  /// pages, which keeps their file, if any. Null, with the reason, if the driver cannot, `bytes` do
  /// not begin on a page, or another import overlaps them.
  std::shared_ptr<Allocation> import_host(const Place& place, std::span<std::byte> bytes,
                                          bool read_only, std::string& why_not, File file = {});
  /// Imports a mapped file's pages, read-only. Null, with the reason, if the driver cannot.
  std::shared_ptr<Allocation> import_file(const Place& place, File file, std::string& why_not);
  /// A new descriptor of an exportable allocation, which this cache then knows.
  int export_dmabuf(const std::shared_ptr<Allocation>& allocation);
  void count_copy();
  ImportStats stats() const;

 private:
  friend struct KeptBuffer;
  using BufferKey = std::pair<const ze::DeviceContext*, dmabuf::Identity>;
  using HostKey = std::pair<const ze::DeviceContext*, std::uintptr_t>;  // address of the last byte
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
  /// Shares the allocation. From now on its end calls release(), which locks: nothing that throws
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
