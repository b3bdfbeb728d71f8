#pragma once

#include <sys/types.h>

#include <chrono>
#include <compare>
#include <cstddef>

namespace npu::dmabuf {

/// Identifies a buffer, whatever descriptors refer to it, as long as one of them is open.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  auto operator<=>(const Identity&) const = default;
};

/// Throws Error(kInvalidArgument) if the descriptor is not open.
Identity identity_of(int fd);

bool is_dmabuf(int fd);

/// Bytes of the buffer or file behind `fd`. Throws Error(kInvalidArgument) if it holds none.
std::size_t size_bytes_of(int fd);

/// Whether the exporter lets the CPU map the buffer for reading and writing, which an NPU driver
/// does to import it.
bool can_be_mapped(int fd, std::size_t size_bytes);

enum class FenceUse {
  kRead,   ///< waits for the devices that write it
  kWrite,  ///< waits for the devices that read or write it
};

/// Waits for the devices that still work on the buffer: no NPU driver does that. False when
/// `timeout` passed first. A buffer without fences is ready at once.
bool wait_for_producers(int fd, FenceUse use, std::chrono::milliseconds timeout);

/// Brackets CPU access to a mapping of the buffer, so that caches are coherent if the hardware does
/// not do it.
class CpuAccess {
 public:
  enum class Kind { kRead, kWrite, kReadWrite };
  /// Throws Error(kIo) when the exporter refuses. `fd` is borrowed for the object's life.
  CpuAccess(int fd, Kind kind);
  CpuAccess(const CpuAccess&) = delete;
  CpuAccess& operator=(const CpuAccess&) = delete;
  ~CpuAccess();

 private:
  int fd_;
  unsigned long long flags_;
};

}  // namespace npu::dmabuf
