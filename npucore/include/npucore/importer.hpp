#pragma once

#include <span>

#include <npucore/tensor.hpp>

namespace npu {

struct ImportStats {
  std::uint64_t imports = 0;    ///< buffers handed to the driver
  std::uint64_t hits = 0;       ///< calls that found their buffer imported
  std::uint64_t live = 0;       ///< imported buffers alive now
  std::uint64_t evictions = 0;  ///< idle imports that made room for others
  std::uint64_t copies = 0;     ///< tensors of files that had to be copied into driver memory
};

/// A DMA-BUF that recurs, such as one of a decoder's pool. It stays imported while this or a copy
/// of it lives. When the device has no room for another import, it drops those that no tensor and
/// no request uses, the least recently used first; tensor() imports them again.
class NPU_API KeptImport {
 public:
  KeptImport() = default;
  explicit operator bool() const { return impl_ != nullptr; }
  /// The whole buffer. Throws Error(kOutOfMemory) if there is no room and all imports are in use:
  /// wait for an inference, or copy.
  Tensor tensor() const;

 private:
  friend struct internal::Pimpl;
  explicit KeptImport(std::shared_ptr<internal::KeptBuffer> buffer) : impl_(std::move(buffer)) {}
  std::shared_ptr<internal::KeptBuffer> impl_;
};

/// Turns DMA-BUFs into tensors. A buffer is known by its device and inode number: however often its
/// descriptor is duplicated, it is imported once per NPU, and stays so while a tensor of it lives.
class NPU_API Importer {
 public:
  explicit Importer(const Device& device);
  /// The whole buffer behind `fd`, which stays the caller's. Throws like KeptImport::tensor(),
  /// Error(kInvalidArgument) if it is no DMA-BUF, Error(kUnsupported) if it cannot be mapped.
  Tensor import(int fd);
  /// The same buffer, imported when it is first asked for. Throws Error(kInvalidArgument).
  KeptImport keep(int fd);
  /// Imports a frame's buffers into the first of `tensors`; known buffers are only looked up.
  /// Throws like KeptImport::tensor(), with the tensors before the failed one filled.
  void import(std::span<const KeptImport* const> buffers, std::span<Tensor> tensors);
  ImportStats stats() const;

 private:
  Device device_;
};

}  // namespace npu
