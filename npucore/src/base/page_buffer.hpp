#pragma once

#include <cstddef>
#include <span>

namespace npu::base {

/// A page-aligned copy of some bytes, with zeros to the end of its last page.
class PageBuffer {
 public:
  /// Throws Error(kOutOfMemory).
  static PageBuffer copy_of(std::span<const std::byte> bytes);

  PageBuffer() = default;
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  ~PageBuffer();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit PageBuffer(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace npu::base
