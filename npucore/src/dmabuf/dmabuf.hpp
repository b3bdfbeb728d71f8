#pragma once

#include <sys/types.h>

#include <chrono>
#include <compare>
#include <cstddef>

namespace npu::dmabuf {

/// Names a buffer, whatever descriptors it is known by, as long as one of them is open.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  auto operator<=>(const Identity&) const = default;
};

/// Throws Error(kInvalidArgument) for what is no open descriptor.
Identity identity_of(int fd);

bool is_dmabuf(int fd);

/// Bytes of the buffer or file behind `fd`. Throws Error(kInvalidArgument) where there is none.
std::size_t size_bytes_of(int fd);

/// Whether the exporter lets the CPU map the buffer for reading and writing, as an NPU driver does
/// when it imports it.
bool can_be_mapped(int fd, std::size_t size_bytes);

enum class FenceUse {
  kRead,   ///< waits for whoever writes the buffer now
  kWrite,  ///< waits for whoever reads or writes it
};

/// Waits for the devices that still work on the buffer, because no NPU driver does. False when
/// `timeout` passed first. A buffer without fences is ready at once.
bool wait_for_producers(int fd, FenceUse use, std::chrono::milliseconds timeout);

/// Brackets CPU access to a mapping of the buffer, so that caches are coherent where the hardware
/// does not see to it.
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
