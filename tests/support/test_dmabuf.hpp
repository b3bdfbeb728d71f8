// Buffers that an NPU imports, for tests on any machine.
#pragma once

#include <cstddef>

namespace npu::test {

/// Whether /dev/udmabuf can be opened: make_dmabuf() then gives DMA-BUFs proper.
bool has_udmabuf();

/// A buffer of zeros of whole pages: a DMA-BUF where there is udmabuf, else a memfd, which the
/// software NPU imports with SOFTNPU_ALLOW_MEMFD=1. The caller closes it. Neither kind can be
/// written with write(): map it, see DmabufMapping.
int make_dmabuf(std::size_t size_bytes);

/// A buffer's bytes for the CPU, between DMA_BUF_IOCTL_SYNC's start and end where the kernel has
/// one. `fd` is borrowed for the object's life.
class DmabufMapping {
 public:
  DmabufMapping(int fd, std::size_t size_bytes);
  DmabufMapping(const DmabufMapping&) = delete;
  DmabufMapping& operator=(const DmabufMapping&) = delete;
  ~DmabufMapping();

  unsigned char* data() const { return data_; }

 private:
  int fd_;
  std::size_t size_bytes_;
  unsigned char* data_;
};

/// Sets `size_bytes` at `offset` of the buffer to `value`.
void fill_dmabuf(int fd, std::size_t offset, std::size_t size_bytes, unsigned char value);

}  // namespace npu::test
