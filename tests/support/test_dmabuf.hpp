// Buffers that an NPU imports, for tests on any machine.
#pragma once

#include <cstddef>
#include <string>

namespace npu::test {

enum class BufferKind {
  kUdmabuf,  ///< /dev/udmabuf
  kDmaHeap,  ///< /dev/dma_heap/system
  kMemfd,    ///< a stand-in, which the software NPU imports with SOFTNPU_ALLOW_MEMFD=1
};

/// A buffer of zeros of `size_bytes` rounded up to whole pages, which the caller closes; -1 with
/// errno set where this machine has none of the kind. DMA-BUFs cannot be written with write(): map
/// them, see DmabufMapping.
int make_buffer(BufferKind kind, std::size_t size_bytes);

/// Why there are no such buffers here; empty where there are.
std::string why_no_buffers(BufferKind kind);

/// Whether /dev/udmabuf can be opened: make_dmabuf() then gives DMA-BUFs proper.
bool has_udmabuf();

/// A buffer of udmabuf where there is one, else a memfd. Throws where neither can be made.
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
