#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <utility>

namespace npu::base {

/// Owns a mapping of mmap(); empty if mmap() failed.
class Mapping {
 public:
  Mapping() = default;
  /// `start` is mmap()'s result for `size_bytes`.
  Mapping(void* start, std::size_t size_bytes) {
    if (start != MAP_FAILED) {
      bytes_ = {static_cast<std::byte*>(start), size_bytes};
    }
  }
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (*this) {
      ::munmap(bytes_.data(), bytes_.size());
    }
  }

  explicit operator bool() const { return !bytes_.empty(); }
  /// Writable only if it was mapped so.
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace npu::base
