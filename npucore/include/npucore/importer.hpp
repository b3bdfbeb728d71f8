#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/export.hpp>
#include <npucore/tensor.hpp>

namespace npu {

struct ImportStats {
  std::uint64_t imports = 0;    ///< buffers handed to the driver
  std::uint64_t hits = 0;       ///< calls answered from what was imported before
  std::uint64_t live = 0;       ///< imported buffers alive now
  std::uint64_t evictions = 0;  ///< idle imports that had to make room for others
  std::uint64_t copies = 0;     ///< tensors of a file that had to be copied into driver memory
};

namespace internal {
struct KeptBuffer;
}

/// A DMA-BUF that will come again and again, such as one of a decoder's pool. It stays imported for
/// as long as the object or a copy of it lives. Where the device has no room for another import,
/// those that no tensor and no request uses are let go, the one that was not used for the longest
/// time first; tensor() then imports them again.
class NPU_API KeptImport {
 public:
  KeptImport() = default;

  explicit operator bool() const { return buffer_ != nullptr; }
  /// The whole buffer. Throws Error(kOutOfMemory) when there is no room and everything that is
  /// imported is in use: wait for an inference, or copy.
  Tensor tensor() const;

 private:
  friend class Importer;
  explicit KeptImport(std::shared_ptr<internal::KeptBuffer> buffer) : buffer_(std::move(buffer)) {}
  std::shared_ptr<internal::KeptBuffer> buffer_;
};

/// Turns DMA-BUFs into tensors. A buffer is known by its device and inode number, not by its
/// descriptor: however often it is duplicated, it is imported once per device, and stays so while a
/// tensor of it lives.
class NPU_API Importer {
 public:
  explicit Importer(const Device& device);

  /// The whole buffer behind `fd`, which stays the caller's. Throws Error(kInvalidArgument) for
  /// what is no DMA-BUF, Error(kUnsupported) where its exporter does not let it be mapped, and
  /// Error(kOutOfMemory) as KeptImport::tensor() does.
  Tensor import(int fd);
  /// The same buffer, to be imported when it is first asked for. Throws Error(kInvalidArgument).
  KeptImport keep(int fd);
  /// The whole buffers that a frame's planes lie in, in one call; of what is imported already it is
  /// a look-up. Throws as KeptImport::tensor() does.
  std::vector<Tensor> import(std::span<const KeptImport* const> buffers);
  ImportStats stats() const;

 private:
  Device device_;
};

}  // namespace npu
