#include "base/page_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "npucore/error.hpp"

namespace npu::base {

PageBuffer PageBuffer::copy_of(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  void* start =
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    throw Error(ErrorCode::kOutOfMemory,
                text("mmap of ", bytes.size(), " bytes: ", errno_text(errno)));
  PageBuffer buffer({static_cast<std::byte*>(start), bytes.size()});
  std::copy(bytes.begin(), bytes.end(), buffer.bytes_.begin());
  return buffer;
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace npu::base
