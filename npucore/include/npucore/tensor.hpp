#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include <npucore/device.hpp>
#include <npucore/export.hpp>

namespace npu {

enum class MemoryUse {
  kInput,   ///< written by the CPU, read by the NPU
  kOutput,  ///< written by the NPU, read by the CPU
};

/// Memory of the application, which stays its owner: it keeps it mapped, and frees it only when no
/// tensor and no request is bound to it any more.
struct HostMemory {
  HostMemory(void* memory, std::size_t size) : data(memory), size_bytes(size) {}
  void* data;
  std::size_t size_bytes;
};

namespace internal {
struct Allocation;
struct TensorMaker;
}  // namespace internal

/// Memory that the device reads and writes in place, and the CPU through data(). Copies and slices
/// share the allocation; it is freed with the last of them. After a lost device the memory is still
/// there for the CPU, and for the device too: imported memory is imported again, driver memory that
/// was never exported gets a stand-in that every inference copies (Request::copies()).
class NPU_API Tensor {
 public:
  Tensor() = default;
  ~Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept
      : allocation_(std::move(other.allocation_)),
        offset_(std::exchange(other.offset_, 0)),
        size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    allocation_ = std::move(other.allocation_);
    offset_ = std::exchange(other.offset_, 0);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

  /// Page-aligned driver memory. `exportable` memory can be handed out with export_dmabuf().
  static Tensor allocate(const Device& device, std::size_t size_bytes, MemoryUse use,
                         bool exportable = false);
  /// Memory that other devices and processes can share, in whole pages: a DMA-BUF from the first of
  /// Device::dmabuf_sources() that works and has room for it, else driver memory as allocate()
  /// gives it. dmabuf_source() tells which.
  static Tensor allocate_shareable(const Device& device, std::size_t size_bytes, MemoryUse use);
  /// `size` bytes at `offset` of the buffer behind `fd`, which stays the caller's; size 0: up to
  /// its end. Throws Error(kInvalidArgument) for what is no DMA-BUF and for bytes that it lacks.
  static Tensor import_dmabuf(const Device& device, int fd, std::size_t offset = 0,
                              std::size_t size = 0);
  /// The application's memory, in place. It must begin on a page; the rest of its last page is
  /// imported with it. Memory that is imported for kInput is read-only for the device, and may be
  /// so for the CPU. Throws Error(kUnsupported), with the reason, where it cannot be imported:
  /// Request::set_input(index, HostMemory) copies then.
  static Tensor import_host(const Device& device, HostMemory memory, MemoryUse use);
  /// A file's bytes, for reading only: mapped and imported where the driver can, else copied, which
  /// Importer::stats() counts. Throws Error(kInvalidArgument) for bytes that the file lacks.
  static Tensor from_file(const Device& device, const std::filesystem::path& path,
                          std::size_t offset, std::size_t size);

  explicit operator bool() const { return allocation_ != nullptr; }
  /// The memory for the CPU, and the pointer that Level Zero knows it by in the context it was made
  /// in.
  std::byte* data() const;
  std::size_t size_bytes() const { return size_bytes_; }
  /// `size` bytes from `offset` of this tensor, in the same memory. Throws when they are not inside
  /// it.
  Tensor slice(std::size_t offset, std::size_t size) const;
  /// A new file descriptor, which the caller closes.
  int export_dmabuf() const;
  /// kDriver for shareable memory only: what export_dmabuf() makes is the caller's affair.
  DmabufSource dmabuf_source() const;
  /// The descriptor of the DMA-BUF that the tensor lies in, which stays the tensor's; -1 where the
  /// memory is none. A slice has that of the whole.
  int dmabuf_fd() const;
  /// Whether the memory came from a DMA-BUF that the driver did not make.
  bool is_imported() const;
  /// False for driver memory whose context was lost: every inference copies it then. Make another.
  bool is_reachable() const;
  /// Whether neither CPU nor device may write it.
  bool is_read_only() const;

  const std::shared_ptr<internal::Allocation>& allocation() const { return allocation_; }

 private:
  friend struct internal::TensorMaker;
  Tensor(std::shared_ptr<internal::Allocation> allocation, std::size_t offset, std::size_t size);
  std::shared_ptr<internal::Allocation> allocation_;
  std::size_t offset_ = 0;
  std::size_t size_bytes_ = 0;
};

/// Brackets the CPU's reading or writing of a tensor. Where the memory is a DMA-BUF, caches are
/// then coherent with devices that do not see to it themselves; elsewhere it costs nothing.
class NPU_API CpuAccess {
 public:
  enum class Kind { kRead, kWrite, kReadWrite };
  /// Throws Error(kIo) when the DMA-BUF's exporter refuses.
  CpuAccess(const Tensor& tensor, Kind kind);
  ~CpuAccess();
  CpuAccess(const CpuAccess&) = delete;
  CpuAccess& operator=(const CpuAccess&) = delete;

  std::byte* data() const { return tensor_.data(); }

 private:
  Tensor tensor_;
  struct Bracket;
  std::unique_ptr<Bracket> bracket_;  ///< null where none is needed
};

}  // namespace npu
