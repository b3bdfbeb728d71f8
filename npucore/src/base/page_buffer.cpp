#include "page_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <npucore/error.hpp>

#include "text.hpp"

namespace npu::base {

PageBuffer PageBuffer::copy_of(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  Mapping pages(
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      bytes.size());
  if (!pages) {
    throw Error(ErrorCode::kOutOfMemory,
                text("mmap of ", bytes.size(), " bytes: ", errno_text(errno)));
  }
  std::copy(bytes.begin(), bytes.end(), pages.bytes().begin());
  return PageBuffer(std::move(pages));
}

}  // namespace npu::base
