#include "core/import_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/text.hpp"
#include "core/device_state.hpp"
#include "npucore/error.hpp"

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

/// Tests stand a memfd in for a DMA-BUF; no hardware could take one.
bool software_takes_memfd(const DeviceState& device) {
  const char* allowed = std::getenv("SOFTNPU_ALLOW_MEMFD");
  return device.info.is_software && allowed && std::string_view(allowed) == "1";
}

void require_dmabuf(const DeviceState& device, int fd) {
  if (dmabuf::is_dmabuf(fd) || software_takes_memfd(device)) return;
  throw Error(ErrorCode::kInvalidArgument,
              text("file descriptor ", fd, " is no DMA-BUF but ", base::quoted(link_of(fd)),
                   ": import memory of a DMA-BUF exporter, or copy into a tensor"));
}

base::UniqueFd duplicate(int fd) {
  base::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy)
    throw Error(ErrorCode::kInvalidArgument,
                text("file descriptor ", fd, " cannot be duplicated: ", base::errno_text(errno)));
  return copy;
}

}  // namespace

std::shared_ptr<Allocation> share(std::unique_ptr<Allocation> allocation) {
  return {allocation.release(), [](Allocation* last) {
            const std::shared_ptr<DeviceState> device = last->device;  // outlives the allocation
            device->imports.release(std::unique_ptr<Allocation>(last));
          }};
}

std::shared_ptr<Allocation> ImportCache::find(std::unique_lock<std::mutex>& lock,
                                              const dmabuf::Identity& identity) {
  for (;;) {
    const auto entry = known_.find(identity);
    if (entry == known_.end()) return nullptr;
    if (auto alive = entry->second.lock()) return alive;
    forgotten_.wait(lock);  // its last owner is about to release it
  }
}

std::shared_ptr<Allocation> ImportCache::import(const std::shared_ptr<DeviceState>& device,
                                                int fd) {
  const dmabuf::Identity identity = dmabuf::identity_of(fd);
  std::shared_ptr<Allocation> result;  // before the lock: its end may need the mutex
  std::unique_lock lock(mutex_);
  result = find(lock, identity);
  if (result)
    ++stats_.hits;
  else
    result = import_new(device, fd, identity);
  return result;
}

std::shared_ptr<Allocation> ImportCache::import_new(const std::shared_ptr<DeviceState>& device,
                                                    int fd, const dmabuf::Identity& identity) {
  require_dmabuf(*device, fd);
  auto allocation = std::make_unique<Allocation>();
  allocation->device = device;
  allocation->size_bytes = dmabuf::size_bytes_of(fd);
  allocation->imported = true;
  allocation->fd = duplicate(fd);
  allocation->memory =
      ze::Memory::import_dmabuf(device->ze, allocation->fd.get(), allocation->size_bytes);
  allocation->identity = identity;
  auto& entry = known_[identity];  // may throw: before the deleter, which locks, exists
  auto shared = share(std::move(allocation));
  entry = shared;
  ++stats_.imports;
  ++stats_.live;
  return shared;
}

int ImportCache::export_dmabuf(const std::shared_ptr<Allocation>& allocation) {
  std::scoped_lock lock(mutex_);
  base::UniqueFd fd(allocation->memory.export_dmabuf());
  if (!allocation->identity) {
    base::UniqueFd own = duplicate(fd.get());
    const dmabuf::Identity identity = dmabuf::identity_of(fd.get());
    known_[identity] = allocation;
    allocation->identity = identity;
    allocation->fd = std::move(own);
  }
  return fd.release();
}

ImportStats ImportCache::stats() const {
  std::scoped_lock lock(mutex_);
  return stats_;
}

void ImportCache::release(std::unique_ptr<Allocation> allocation) {
  if (!allocation->identity) return;  // nobody else can know this memory
  std::scoped_lock lock(mutex_);
  allocation->memory = {};
  known_.erase(*allocation->identity);
  if (allocation->imported) --stats_.live;
  forgotten_.notify_all();
}

}  // namespace npu::internal
