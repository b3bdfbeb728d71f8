#pragma once

#include <cstddef>
#include <string>

#include "base/unique_fd.hpp"

namespace npu::dmabuf {

/// A DMA-BUF of ordinary memory from one of the kernel's devices, or the reason why there is none.
struct NewBuffer {
  base::UniqueFd fd;
  std::string why_not;  ///< empty with a descriptor
  std::string cure;     ///< what a user can do about it; may be empty
};

inline constexpr const char* kUdmabufDevice = "/dev/udmabuf";
/// Pages from anywhere, cached for the CPU. The other heaps are scarce and of no use to an NPU.
inline constexpr const char* kSystemHeap = "/dev/dma_heap/system";

/// Makes a zeroed buffer of at least `size_bytes`, in whole pages.
NewBuffer new_udmabuf(std::size_t size_bytes, const char* device = kUdmabufDevice);
NewBuffer new_heap_buffer(std::size_t size_bytes, const char* heap = kSystemHeap);

}  // namespace npu::dmabuf
