// Device-visible memory: allocations, imports, and the table in which a context finds them by
// address.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>

#include "base/live_objects.hpp"
#include "base/mapping.hpp"
#include "base/unique_fd.hpp"

#include "dmabuf.hpp"
#include "gem_handle.hpp"
#include "pinned_pages.hpp"

namespace softnpu {

/// A context's device addresses for imported buffers.
class ImportWindow {
 public:
  explicit ImportWindow(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  /// False if the window has no room for them.
  bool take(uint64_t bytes);
  void give_back(uint64_t bytes) { used_bytes_ -= bytes; }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
};

/// The kernel's handle per DMA-BUF and context. All imports of one buffer share it, and freeing one
/// of them closes it for all: the CPU can still read the others, but the device has lost them.
class BufferHandle {
 public:
  /// Throws OUT_OF_DEVICE_MEMORY if the window is full.
  BufferHandle(std::shared_ptr<ImportWindow> window, uint64_t bytes);
  ~BufferHandle() { window_->give_back(bytes_); }
  BufferHandle(const BufferHandle&) = delete;
  BufferHandle& operator=(const BufferHandle&) = delete;

  GemHandle gem;

 private:
  std::shared_ptr<ImportWindow> window_;
  uint64_t bytes_;
};

/// One allocation or import. Commands share its ownership: after a free it lives until the last
/// command that uses it is done.
class Allocation : Counted<Kind::kAllocation> {
 public:
  struct Parts {
    Mapping mapping;
    UniqueFd fd;            ///< memfd of an exportable allocation, DMA-BUF of an import; else empty
    size_t size_bytes = 0;  ///< as asked for; the whole buffer of an import
    ze_memory_type_t type = ZE_MEMORY_TYPE_HOST;
    std::shared_ptr<BufferHandle> handle;  ///< for an import
    bool needs_access_brackets = false;    ///< a true DMA-BUF
    bool read_only = false;                ///< the device may not write
    std::unique_ptr<PinnedPages> pinned;   ///< for borrowed memory, if the machine can
  };
  explicit Allocation(Parts parts);
  ~Allocation();

  std::byte* base() const { return parts_.mapping.base(); }
  size_t size_bytes() const { return parts_.size_bytes; }
  size_t mapped_bytes() const { return parts_.mapping.size_bytes(); }
  ze_memory_type_t type() const { return parts_.type; }
  uint64_t id() const { return id_; }
  uint64_t device_address() const { return device_address_; }
  /// Inode of the file behind an import or an exportable allocation; 0 if there is none.
  uint64_t inode() const { return inode_; }
  bool imported() const { return parts_.handle != nullptr; }
  /// True for the application's own memory.
  bool borrowed() const { return parts_.mapping.borrowed(); }
  bool read_only() const { return parts_.read_only; }

  /// A new descriptor of an exportable allocation; empty for any other.
  UniqueFd export_fd() const;
  /// False after another import of the same buffer was freed, or a child of the process freed this.
  bool usable_by_device() const { return imported() ? parts_.handle->gem.open() : gem_.open(); }
  void mark_freed() { freed_ = true; }

  void begin_device_access();
  void end_device_access() const;
  /// The device's place for the memory that was at `pointer` when it was allocated or imported.
  /// Call it between the two above.
  void* on_device(const void* pointer) const;

 private:
  void note_file();

  Parts parts_;
  Mapping left_;  // the content of pinned pages that the application has unmapped
  uint64_t id_;
  uint64_t device_address_;
  uint64_t inode_ = 0;
  GemHandle gem_;  // for memory that is no import
  std::atomic<bool> freed_{false};
};

/// The allocations of one context, by base address. Commands share the ownership of their memory.
class AllocationTable {
 public:
  AllocationTable();

  std::shared_ptr<Allocation> insert(Allocation::Parts parts);
  /// The allocation that `pointer` lies in, null if there is none.
  std::shared_ptr<Allocation> find(const void* pointer) const;
  /// As `find`, but also null if fewer than `size_bytes` remain behind `pointer`.
  std::shared_ptr<Allocation> find_range(const void* pointer, size_t size_bytes) const;
  /// False if `pointer` is no allocation's base; for borrowed memory any pointer inside will do.
  bool remove(const void* pointer);
  uint64_t total_bytes() const;
  /// The shared handle of a DMA-BUF: the one of its other imports, or a new one. Throws
  /// OUT_OF_DEVICE_MEMORY.
  std::shared_ptr<BufferHandle> handle_of(dmabuf::Identity identity, uint64_t bytes);

 private:
  mutable std::shared_mutex mutex_;  // guards all below
  std::map<uintptr_t, std::shared_ptr<Allocation>> by_base_;
  std::map<dmabuf::Identity, std::weak_ptr<BufferHandle>> handles_;
  const std::shared_ptr<ImportWindow> window_;
};

/// Both throw Failure.
Allocation::Parts allocate(size_t size_bytes, ze_memory_type_t type, bool exportable);
Allocation::Parts import(AllocationTable& table, int fd, ze_memory_type_t type);
/// Borrows the pages that the range lies in. They must be mapped, and writable unless `read_only`.
Allocation::Parts borrow(const AllocationTable& table, void* pointer, size_t size_bytes,
                         bool read_only);

}  // namespace softnpu
