// Buffers of the kernel, for tests.
#pragma once

#include <cstddef>
#include <string>

namespace npu::test {

enum class BufferKind {
  kUdmabuf,  ///< /dev/udmabuf
  kDmaHeap,  ///< /dev/dma_heap/system
  kMemfd,    ///< a stand-in, which only SOFTNPU_ALLOW_MEMFD=1 takes
};

/// A file descriptor, which the caller closes, of `size_bytes` rounded up to whole pages; -1 with
/// errno set where this machine has no such buffers.
int make_buffer(BufferKind kind, std::size_t size_bytes);

/// Why there are no such buffers here; empty where there are.
std::string why_no_buffers(BufferKind kind);

}  // namespace npu::test
