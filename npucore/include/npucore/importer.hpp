#pragma once

#include <cstdint>

#include "npucore/device.hpp"
#include "npucore/export.hpp"
#include "npucore/tensor.hpp"

namespace npu {

struct ImportStats {
  std::uint64_t imports = 0;  ///< buffers handed to the driver
  std::uint64_t hits = 0;     ///< calls answered from what was imported before
  std::uint64_t live = 0;     ///< imported buffers alive now
  std::uint64_t copies = 0;   ///< tensors of a file that had to be copied into driver memory
};

/// Turns DMA-BUFs into tensors. A buffer is known by its device and inode number, not by its
/// descriptor: however often it is duplicated, it is imported once per device, and stays so while a
/// tensor of it lives.
class NPU_API Importer {
 public:
  explicit Importer(const Device& device);

  /// The whole buffer behind `fd`, which stays the caller's. Throws Error(kInvalidArgument) for
  /// what is no DMA-BUF.
  Tensor import(int fd);
  ImportStats stats() const;

 private:
  Device device_;
};

}  // namespace npu
