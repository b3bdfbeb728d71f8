#include "import_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/text.hpp"
#include "device/device_impl.hpp"

namespace npu::internal {
namespace {

using base::text;

/// "/memfd:x (deleted)", "/dmabuf:" or "?".
std::string link_of(int fd) {
  std::array<char, 256> target{};
  const std::string link = text("/proc/self/fd/", fd);
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : "?";
}

base::UniqueFd duplicate(int fd) {
  base::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy) return copy;
  const bool none_left = errno == EMFILE;
  throw Error(none_left ? ErrorCode::kIo : ErrorCode::kInvalidArgument,
              text("file descriptor ", fd, " cannot be duplicated: ", base::errno_text(errno),
                   none_left ? "; close some, or raise the limit (ulimit -n)" : ""));
}

void require_dmabuf(const Device::Impl& device, int fd) {
  if (takes_as_dmabuf(device, fd)) return;
  throw Error(ErrorCode::kInvalidArgument,
              text("file descriptor ", fd, " is not a DMA-BUF but ", base::quoted(link_of(fd)),
                   ": import memory from a DMA-BUF exporter, or copy into a tensor"));
}

/// Whether the device can use imported host memory for `bytes`.
bool covers(const Allocation& host, std::span<const std::byte> bytes, bool read_only) {
  return host.base() <= bytes.data() &&
         bytes.data() + bytes.size() <= host.base() + host.size_bytes &&
         (read_only || !host.read_only);
}

}  // namespace

bool takes_as_dmabuf(const Device::Impl& device, int fd) {
  return dmabuf::is_dmabuf(fd) || device.imports_memfd;
}

/// Holds an allocation for those who share it. After share() it releases it through that cache;
/// before, while the rest of an import may still fail, it just destroys it.
struct ImportCache::Owner {
  explicit Owner(std::unique_ptr<Allocation> held) : allocation(std::move(held)) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (!cache || base::is_forked_child()) return;
    const std::shared_ptr<Device::Impl> device = allocation->place.device;  // owns the cache
    cache->release(std::move(allocation));
  }

  std::unique_ptr<Allocation> allocation;
  ImportCache* cache = nullptr;
};

KeptBuffer::~KeptBuffer() {
  if (cache && !base::is_forked_child()) {
    cache->forget(*this);
  }
}

std::shared_ptr<Allocation> ImportCache::share(std::shared_ptr<Owner> owner) noexcept {
  owner->cache = this;
  Allocation* allocation = owner->allocation.get();
  return {std::move(owner), allocation};
}

std::shared_ptr<Allocation> ImportCache::allocate(const Place& place, std::size_t size_bytes,
                                                  ze::Memory::CpuCaching caching, bool exportable) {
  auto allocation = std::make_unique<Allocation>();
  allocation->place = place;
  allocation->memory = ze::Memory::allocate(*place.context, size_bytes, caching, exportable);
  allocation->size_bytes = size_bytes;
  allocation->exportable = exportable;
  return share(std::make_shared<Owner>(std::move(allocation)));
}

std::shared_ptr<Allocation> ImportCache::find(std::unique_lock<std::mutex>& lock,
                                              const BufferKey& key) {
  for (;;) {
    const auto entry = known_.find(key);
    if (entry == known_.end()) return nullptr;
    if (auto alive = entry->second.lock()) return alive;
    forgotten_.wait(lock);  // its last owner is releasing it
  }
}

std::shared_ptr<Allocation> ImportCache::import(const Place& place, int fd) {
  std::unique_lock lock(mutex_);
  return find_or_import(lock, place, fd);
}

std::shared_ptr<Allocation> ImportCache::find_or_import(std::unique_lock<std::mutex>& lock,
                                                        const Place& place, int fd) {
  const BufferKey key{place.context.get(), dmabuf::identity_of(fd)};
  for (;;) {
    if (auto known = find(lock, key)) {
      ++stats_.hits;
      return known;
    }
    try {
      return import_new(place, fd, key);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      make_room(lock, fd, error);
    }
  }
}

std::shared_ptr<Allocation> ImportCache::import_new(const Place& place, int fd,
                                                    const BufferKey& key) {
  require_dmabuf(*place.device, fd);
  auto allocation = std::make_unique<Allocation>();
  allocation->place = place;
  allocation->size_bytes = dmabuf::size_bytes_of(fd);
  allocation->origin = Allocation::Origin::kDmabuf;
  allocation->dmabuf_source = DmabufSource::kProducer;
  allocation->fd = duplicate(fd);
  allocation->memory =
      ze::Memory::import_dmabuf(*place.context, allocation->fd.get(), allocation->size_bytes);
  allocation->identity = key.second;
  auto owner = std::make_shared<Owner>(std::move(allocation));
  auto& entry = known_[key];
  auto shared = share(std::move(owner));
  entry = shared;
  ++stats_.imports;
  ++stats_.live;
  return shared;
}

// ---- The device's room for imports

std::shared_ptr<KeptBuffer> ImportCache::keep(const std::shared_ptr<Device::Impl>& device, int fd) {
  base::refuse_after_fork();
  const dmabuf::Identity identity = dmabuf::identity_of(fd);
  std::scoped_lock lock(mutex_);
  const auto entry = kept_.find(identity);
  auto known = entry == kept_.end() ? nullptr : entry->second.lock();
  if (known) return known;
  require_dmabuf(*device, fd);
  std::weak_ptr<KeptBuffer>& slot = kept_[identity];
  auto made = std::make_shared<KeptBuffer>();
  made->device = device;
  made->identity = identity;
  made->fd = duplicate(fd);
  made->turn = kept_order_.insert(kept_order_.end(), made.get());
  made->cache = this;  // last: its end locks from now on
  slot = made;
  return made;
}

void ImportCache::forget(KeptBuffer& buffer) {
  std::scoped_lock lock(mutex_);
  kept_order_.erase(buffer.turn);
  const auto entry = kept_.find(buffer.identity);  // keeps a newer one of the same buffer
  if (entry != kept_.end() && entry->second.expired()) {
    kept_.erase(entry);
  }
}

std::shared_ptr<Allocation> ImportCache::import(const Place& place, KeptBuffer& buffer) {
  std::shared_ptr<Allocation> lost, replaced;  // before the lock: their end needs the mutex
  std::unique_lock lock(mutex_);
  kept_order_.splice(kept_order_.end(), kept_order_, buffer.turn);
  if (buffer.allocation && buffer.allocation->place != place) {
    buffer.fd = duplicate(buffer.allocation->fd.get());
    lost = std::move(buffer.allocation);
  }
  if (buffer.allocation) {
    ++stats_.hits;
    return buffer.allocation;
  }
  const base::UniqueFd fd = duplicate(buffer.fd.get());  // buffer.fd may go meanwhile
  auto imported = find_or_import(lock, place, fd.get());
  replaced = std::exchange(buffer.allocation, imported);
  buffer.fd.reset();
  return imported;
}

/// Drops the import, among those that are only kept, whose last use is longest ago. False if there
/// is none.
bool ImportCache::evict(std::unique_lock<std::mutex>& lock) {
  for (KeptBuffer* buffer : kept_order_) {
    if (!buffer->allocation || buffer->allocation.use_count() != 1) continue;
    buffer->fd = std::move(buffer->allocation->fd);
    std::shared_ptr<Allocation> idle = std::move(buffer->allocation);
    known_[{idle->place.context.get(), *idle->identity}].reset();  // nobody finds it any more
    ++stats_.evictions;
    lock.unlock();  // its end needs the mutex
    idle.reset();
    lock.lock();
    return true;
  }
  return false;
}

/// Makes room after the driver refused to import `fd`. Returns when the driver may be asked again.
/// Drivers have one result for unmappable memory and for a full address range.
void ImportCache::make_room(std::unique_lock<std::mutex>& lock, int fd, const Error& refusal) {
  if (!dmabuf::can_be_mapped(fd, dmabuf::size_bytes_of(fd))) {
    throw Error(ErrorCode::kUnsupported,
                text(refusal.what(), "; its exporter does not let the CPU map it"));
  }
  if (evict(lock)) return;
  throw Error(ErrorCode::kOutOfMemory,
              text(refusal.what(), "; ", stats_.live,
                   " imported buffers are in use: wait for an inference, or copy"));
}

/// The import that lies in the pages of `bytes`, or null. Release it without the lock.
std::shared_ptr<Allocation> ImportCache::find_host(std::unique_lock<std::mutex>& lock,
                                                   const ze::DeviceContext& context,
                                                   std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t end = base::round_up_to_page(begin + bytes.size());
  for (;;) {
    const auto entry = host_.lower_bound({&context, begin});
    if (entry == host_.end() || entry->first.first != &context || entry->second.begin >= end) {
      return nullptr;
    }
    if (auto alive = entry->second.allocation.lock()) return alive;
    forgotten_.wait(lock);  // its last owner is releasing it
  }
}

std::shared_ptr<Allocation> ImportCache::import_host(const Place& place, std::span<std::byte> bytes,
                                                     bool read_only, std::string& why_not,
                                                     File file) {
  std::shared_ptr<Allocation> result;  // before the lock: its end may need the mutex
  std::unique_lock lock(mutex_);
  if (!place.context->imports_host_memory) {
    why_not = "the driver cannot import host memory (kernel without userptr)";
    return nullptr;
  }
  if (bytes.size() > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(bytes.data())) {
    why_not = "it reaches past the end of all addresses";
    return nullptr;
  }
  result = find_host(lock, *place.context, bytes);
  if (result && !covers(*result, bytes, read_only)) {
    why_not = "it overlaps memory that is imported already, otherwise";
    return nullptr;
  }
  if (result) {
    ++stats_.hits;
    return result;
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % base::page_size_bytes() != 0) {
    why_not = text("it does not begin on a page of ", base::page_size_bytes(), " bytes");
    return nullptr;
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->place = place;
  allocation->read_only = read_only;
  allocation->file = std::move(file);
  result = import_pages(std::move(allocation), bytes, why_not);
  return result;
}

std::shared_ptr<Allocation> ImportCache::import_file(const Place& place, File file,
                                                     std::string& why_not) {
  if (!place.context->imports_host_memory) {
    why_not = "the driver cannot import host memory (kernel without userptr)";
    return nullptr;
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->place = place;
  allocation->read_only = true;
  const std::span<const std::byte> pages = file->bytes();
  allocation->file = std::move(file);
  std::scoped_lock lock(mutex_);
  return import_pages(std::move(allocation), {const_cast<std::byte*>(pages.data()), pages.size()},
                      why_not);
}

/// Call it with the mutex held. `bytes` begin on a page; the rest of their last page is imported
/// too.
std::shared_ptr<Allocation> ImportCache::import_pages(std::unique_ptr<Allocation> allocation,
                                                      std::span<std::byte> bytes,
                                                      std::string& why_not) {
  const std::size_t pages_bytes = base::round_up_to_page(bytes.size());
  try {
    allocation->memory = ze::Memory::import_host(*allocation->place.context, bytes.data(),
                                                 pages_bytes, allocation->read_only);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kDeviceLost) throw;  // a copy would not help
    why_not = error.what();
    return nullptr;
  }
  allocation->origin = Allocation::Origin::kHost;
  allocation->size_bytes = pages_bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const HostKey key{allocation->place.context.get(), begin + pages_bytes - 1};
  auto owner = std::make_shared<Owner>(std::move(allocation));
  HostEntry& entry = host_[key];
  entry.begin = begin;
  auto shared = share(std::move(owner));
  entry.allocation = shared;
  ++stats_.imports;
  ++stats_.live;
  return shared;
}

int ImportCache::export_dmabuf(const std::shared_ptr<Allocation>& allocation) {
  base::refuse_after_fork();
  std::scoped_lock lock(mutex_);
  base::UniqueFd fd(allocation->memory.export_dmabuf());
  if (!allocation->identity) {
    base::UniqueFd own = duplicate(fd.get());
    const dmabuf::Identity identity = dmabuf::identity_of(fd.get());
    known_[{allocation->place.context.get(), identity}] = allocation;
    allocation->identity = identity;
    allocation->fd = std::move(own);
    allocation->exported = true;
  }
  return fd.release();
}

void ImportCache::count_copy() {
  std::scoped_lock lock(mutex_);
  ++stats_.copies;
}

ImportStats ImportCache::stats() const {
  base::refuse_after_fork();
  std::scoped_lock lock(mutex_);
  return stats_;
}

void ImportCache::release(std::unique_ptr<Allocation> allocation) {
  const bool is_host = allocation->origin == Allocation::Origin::kHost;
  if (!allocation->identity && !is_host) return;  // nobody else can know this memory
  // The allocation outlives the lock: its end may release a successor here too.
  std::scoped_lock lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(allocation->base());
  allocation->memory = {};
  if (is_host) {
    host_.erase({allocation->place.context.get(), begin + allocation->size_bytes - 1});
  }
  if (allocation->identity) {
    known_.erase({allocation->place.context.get(), *allocation->identity});
  }
  if (allocation->origin != Allocation::Origin::kDriver) {
    --stats_.live;
  }
  forgotten_.notify_all();
}

}  // namespace npu::internal
