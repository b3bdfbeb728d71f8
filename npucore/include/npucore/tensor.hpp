#pragma once

#include <filesystem>

#include <npucore/device.hpp>

namespace npu {

/// kInput: written by the CPU, read by the NPU. kOutput: written by the NPU, read by the CPU.
enum class MemoryUse { kInput, kOutput };

/// The application's memory. The application keeps it mapped while a tensor or a request is bound
/// to it, and frees it.
struct HostMemory {
  HostMemory(void* memory, std::size_t size) : data(memory), size_bytes(size) {}
  void* data;
  std::size_t size_bytes;
};

/// Memory that the device reads and writes in place, and the CPU through data(). Copies and slices
/// share it; the last of them frees it. It outlives a lost device: the CPU can still use it, and so
/// can the next context. Imported or exported memory is imported there again; other driver memory
/// gets a stand-in that every inference copies (Request::copies()).
class NPU_API Tensor {
 public:
  Tensor() = default;
  /// Page-aligned driver memory; if `exportable`, export_dmabuf() can hand it out.
  static Tensor allocate(const Device& device, std::size_t size_bytes, MemoryUse use,
                         bool exportable = false);
  /// Whole pages that other devices and processes can share: a DMA-BUF from the first of
  /// Device::dmabuf_sources() that works and has room, which dmabuf_source() then tells, else
  /// driver memory as from allocate().
  static Tensor allocate_shareable(const Device& device, std::size_t size_bytes, MemoryUse use);
  /// `size` bytes at `offset` of the buffer behind `fd`, which stays the caller's; size 0: up to
  /// its end. Throws Error(kInvalidArgument) if it is no DMA-BUF or too small.
  static Tensor import_dmabuf(const Device& device, int fd, std::size_t offset = 0,
                              std::size_t size = 0);
  /// The application's memory, in place. It must begin on a page; its last page is imported whole.
  /// For kInput it is read-only for the device, and may be for the CPU. Throws Error(kUnsupported),
  /// with the reason, if it cannot be imported; Request::set_input(index, HostMemory) then copies.
  static Tensor import_host(const Device& device, HostMemory memory, MemoryUse use);
  /// A file's bytes, read-only: mapped and imported if the driver can, else copied, which
  /// Importer::stats() counts. Throws Error(kInvalidArgument) if the file is too small.
  static Tensor from_file(const Device& device, const std::filesystem::path& path,
                          std::size_t offset, std::size_t size);
  explicit operator bool() const { return impl_ != nullptr; }
  /// The memory's address, for the CPU and, in the context it was made in, for Level Zero.
  std::byte* data() const;
  std::size_t size_bytes() const { return impl_ ? size_bytes_ : 0; }
  /// The type of its elements, if it is a request's input, output or state; else kUnknown: bytes.
  ElementType type() const { return type_; }
  /// All elements. Throws Error(kInvalidArgument) if they have another type, or strides between
  /// them; bytes become whatever elements fit.
  template <class T>
  std::span<T> as() const {
    constexpr ElementType kType = element_type_of<std::remove_const_t<T>>();
    static_assert(kType != ElementType::kUnknown, "no element has this type");
    return {reinterpret_cast<T*>(elements(kType, sizeof(T))), size_bytes() / sizeof(T)};
  }
  /// `size` bytes from `offset` on, in the same memory. Throws if they are not inside the tensor.
  Tensor slice(std::size_t offset, std::size_t size) const;
  /// A new file descriptor, which the caller closes.
  int export_dmabuf() const;
  /// kDriver for shareable memory only: export_dmabuf() does not change it.
  DmabufSource dmabuf_source() const;
  /// The DMA-BUF that the tensor or, for a slice, the whole lies in; borrowed. -1: none.
  int dmabuf_fd() const;
  bool is_imported() const;  ///< whether it lies in a DMA-BUF that the driver did not make
  /// False for driver memory whose context was lost: every inference copies it. Make another.
  bool is_reachable() const;
  bool is_read_only() const;  ///< whether it may only be an input; a file's also for the CPU

 private:
  friend struct internal::Pimpl;
  Tensor(std::shared_ptr<internal::Allocation> allocation, std::size_t offset, std::size_t size,
         bool read_only = false, ElementType type = ElementType::kUnknown, bool is_dense = true);
  std::byte* elements(ElementType type, std::size_t bytes) const;
  std::shared_ptr<internal::Allocation> impl_;
  std::size_t offset_ = 0, size_bytes_ = 0;
  ElementType type_ = ElementType::kUnknown;
  bool is_dense_ = true;
  bool read_only_ = false;  ///< in memory that others may write
};

/// Brackets the CPU's reading or writing of a tensor. A DMA-BUF's caches are then coherent with
/// devices that do not see to that themselves; for other memory it costs nothing.
class NPU_API CpuAccess {
 public:
  enum class Kind { kRead, kWrite, kReadWrite };
  CpuAccess(const Tensor& tensor, Kind kind);  ///< throws Error(kIo) if the exporter refuses
  ~CpuAccess();
  std::byte* data() const { return tensor_.data(); }

 private:
  struct Bracket;
  Tensor tensor_;
  std::unique_ptr<Bracket> bracket_;  ///< null if none is needed
};

}  // namespace npu
