#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/status.hpp"
#include "base/trace.hpp"

#include "device.hpp"

namespace softnpu {
namespace {

std::atomic<uint64_t> next_id{1};
std::atomic<uint64_t> next_device_address{0xc0000000};

size_t page_rounded(size_t size_bytes) {
  return (size_bytes + kPageSize - 1) / kPageSize * kPageSize;
}

/// The memfds that this driver exported as DMA-BUFs; they may come back by import.
class ExportedBuffers {
 public:
  void add(dmabuf::Identity identity) {
    const std::scoped_lock lock(mutex_);
    known_.insert(identity);
  }
  void remove(dmabuf::Identity identity) {
    const std::scoped_lock lock(mutex_);
    known_.erase(identity);
  }
  bool has(dmabuf::Identity identity) {
    const std::scoped_lock lock(mutex_);
    return known_.count(identity) != 0;
  }

 private:
  std::mutex mutex_;  // guards known_
  std::set<dmabuf::Identity> known_;
};

ExportedBuffers& exported_buffers() {
  static auto* const buffers = new ExportedBuffers;
  return *buffers;
}

// Pins pages like the kernel's driver: all become present, and private ones that the device may
// write become the process's own.
bool pin(std::byte* base, size_t size_bytes, bool read_only) {
  const bool readable = ::madvise(base, size_bytes, MADV_POPULATE_READ) == 0;
  if (!readable && errno == EINVAL) return true;  // a kernel before 5.14 cannot be asked
  return readable && (read_only || ::madvise(base, size_bytes, MADV_POPULATE_WRITE) == 0);
}

bool importable(int fd, dmabuf::Identity identity) {
  if (dmabuf::is_dmabuf(fd) || exported_buffers().has(identity)) return true;
  return config().allow_memfd && dmabuf::is_memfd(fd);
}

// A DMA-BUF, as drivers export; a memfd if the machine makes none.
UniqueFd exportable_memory(size_t size_bytes) {
  if (config().exports == Export::kAuto) {
    if (UniqueFd fd = dmabuf::make_dmabuf(size_bytes)) return fd;
  }
  return dmabuf::make_memfd(size_bytes);
}

}  // namespace

bool ImportWindow::take(uint64_t bytes) {
  uint64_t used = used_bytes_;
  do {
    if (bytes > limit_bytes_ || used > limit_bytes_ - bytes) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  return true;
}

BufferHandle::BufferHandle(std::shared_ptr<ImportWindow> window, uint64_t bytes)
    : window_(std::move(window)), bytes_(bytes) {
  if (!window_->take(bytes)) {
    throw Failure(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  "the context's address range for imports has no room");
  }
}

Allocation::Allocation(Parts parts)
    : parts_(std::move(parts)),
      id_(next_id++),
      device_address_(next_device_address.fetch_add(parts_.mapping.size_bytes())) {
  if (parts_.fd) {
    note_file();
  }
  Status::of_process().add_memory(mapped_bytes());
}

void Allocation::note_file() {
  const dmabuf::Identity identity = *dmabuf::identity(parts_.fd.get());
  inode_ = identity.inode;
  if (!imported()) {
    exported_buffers().add(identity);
  }
}

Allocation::~Allocation() {
  Status::of_process().remove_memory(mapped_bytes());
  if (imported() && freed_) {
    parts_.handle->gem.close();
  }
  if (!imported() && parts_.fd) {
    exported_buffers().remove(*dmabuf::identity(parts_.fd.get()));
  }
}

UniqueFd Allocation::export_fd() const {
  if (imported() || !parts_.fd) return {};
  UniqueFd fd(::fcntl(parts_.fd.get(), F_DUPFD_CLOEXEC, 0));
  require(static_cast<bool>(fd), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  return fd;
}

void Allocation::begin_device_access() {
  if (parts_.needs_access_brackets) {
    dmabuf::begin_access(parts_.fd.get());
  }
  if (parts_.pinned && parts_.pinned->unmapped()) {
    left_ = parts_.pinned->take_content();
    parts_.pinned.reset();
  }
}

void* Allocation::on_device(const void* pointer) const {
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(pointer));
  return left_ ? left_.base() + (bytes - base()) : bytes;
}

void Allocation::end_device_access() const {
  if (parts_.needs_access_brackets) {
    dmabuf::end_access(parts_.fd.get());
  }
}

AllocationTable::AllocationTable()
    : window_(std::make_shared<ImportWindow>(config().import_limit_bytes)) {}

std::shared_ptr<Allocation> AllocationTable::insert(Allocation::Parts parts) {
  auto allocation = std::make_shared<Allocation>(std::move(parts));
  const std::scoped_lock lock(mutex_);
  by_base_[reinterpret_cast<uintptr_t>(allocation->base())] = allocation;
  return allocation;
}

std::shared_ptr<Allocation> AllocationTable::find(const void* pointer) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::shared_lock lock(mutex_);
  auto next = by_base_.upper_bound(address);
  if (next == by_base_.begin()) return nullptr;
  const auto& allocation = std::prev(next)->second;
  const bool inside = address - std::prev(next)->first < allocation->size_bytes();
  return inside ? allocation : nullptr;
}

std::shared_ptr<Allocation> AllocationTable::find_range(const void* pointer,
                                                        size_t size_bytes) const {
  auto allocation = find(pointer);
  if (!allocation) return nullptr;
  const size_t offset =
      static_cast<size_t>(static_cast<const std::byte*>(pointer) - allocation->base());
  return allocation->size_bytes() - offset >= size_bytes ? allocation : nullptr;
}

bool AllocationTable::remove(const void* pointer) {
  std::shared_ptr<Allocation> removed = find(pointer);  // destroyed after the lock is released
  if (!removed || (removed->base() != pointer && !removed->borrowed())) return false;
  const std::scoped_lock lock(mutex_);
  const auto found = by_base_.find(reinterpret_cast<uintptr_t>(removed->base()));
  if (found == by_base_.end() || found->second != removed) return false;
  removed = std::move(found->second);
  removed->mark_freed();
  by_base_.erase(found);
  return true;
}

uint64_t AllocationTable::total_bytes() const {
  const std::shared_lock lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [base, allocation] : by_base_) sum += allocation->mapped_bytes();
  return sum;
}

std::shared_ptr<BufferHandle> AllocationTable::handle_of(dmabuf::Identity identity,
                                                         uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(handles_, [](const auto& entry) { return entry.second.expired(); });
  auto handle = handles_[identity].lock();
  if (!handle || !handle->gem.open()) {
    handle = std::make_shared<BufferHandle>(window_, bytes);
    handles_[identity] = handle;
  }
  return handle;
}

Allocation::Parts allocate(size_t size_bytes, ze_memory_type_t type, bool exportable) {
  const size_t rounded = page_rounded(size_bytes);
  require(rounded >= size_bytes, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  UniqueFd fd = exportable ? exportable_memory(rounded) : dmabuf::make_memfd(rounded);
  require(static_cast<bool>(fd), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  Mapping mapping = Mapping::map(rounded, fd.get());
  require(static_cast<bool>(mapping), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const bool brackets = exportable && dmabuf::is_dmabuf(fd.get());
  if (exportable) {
    trace::note_file("file", fd.get());
  } else {
    fd.reset();  // the mapping keeps the memory
  }
  return {std::move(mapping), std::move(fd), size_bytes, type, nullptr, brackets, false, nullptr};
}

Allocation::Parts import(AllocationTable& table, int fd, ze_memory_type_t type) {
  trace::note("fd", static_cast<uint64_t>(fd));
  trace::note_file("file", fd);
  const auto identity = dmabuf::identity(fd);
  if (!identity || !importable(fd, *identity)) {
    throw Failure(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "the descriptor is not a DMA-BUF");
  }
  const auto size_bytes = dmabuf::size_bytes(fd);
  require(size_bytes.has_value(), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const size_t rounded = page_rounded(*size_bytes);
  Mapping mapping = Mapping::map(rounded, fd);
  if (!mapping) throw Failure(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "the DMA-BUF cannot be mapped");
  UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  require(static_cast<bool>(own), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const bool brackets = dmabuf::is_dmabuf(fd);
  auto handle = table.handle_of(*identity, rounded);
  return {std::move(mapping), std::move(own), rounded, type,
          std::move(handle),  brackets,       false,   nullptr};
}

Allocation::Parts borrow(const AllocationTable& table, void* pointer, size_t size_bytes,
                         bool read_only) {
  // Like Intel's driver, looks at the beginning only.
  require(table.find(pointer) == nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const size_t before = reinterpret_cast<uintptr_t>(pointer) % kPageSize;
  require(size_bytes < SIZE_MAX - before - kPageSize, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  std::byte* const base = static_cast<std::byte*>(pointer) - before;
  const size_t rounded = page_rounded(before + size_bytes);
  if (!pin(base, rounded, read_only)) {
    throw Failure(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  read_only ? "the memory is not mapped" : "the memory is not mapped for writing");
  }
  Allocation::Parts parts;
  parts.mapping = Mapping::borrow(base, rounded);
  parts.size_bytes = rounded;
  parts.read_only = read_only;
  parts.pinned = PinnedPages::of(base, rounded);
  return parts;
}

}  // namespace softnpu
