#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace softnpu {

/// A mapped range of memory, unmapped in the destructor unless it is borrowed.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping() { reset(); }
  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)),
        borrowed_(other.borrowed_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    reset();
    base_ = std::exchange(other.base_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    borrowed_ = other.borrowed_;
    return *this;
  }

  /// Null if the kernel refuses. `fd` may be -1 for private memory of this process.
  static Mapping map(size_t size_bytes, int fd) {
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const base = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (base == MAP_FAILED) return {};
    return {static_cast<std::byte*>(base), size_bytes, false};
  }
  static Mapping map_read_only(size_t size_bytes, int fd) {
    void* const base = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED) return {};
    return {static_cast<std::byte*>(base), size_bytes, false};
  }
  /// The application's memory; the application keeps it mapped longer than this object lives.
  static Mapping borrow(std::byte* base, size_t size_bytes) { return {base, size_bytes, true}; }

  std::byte* base() const { return base_; }
  size_t size_bytes() const { return size_bytes_; }
  bool borrowed() const { return borrowed_; }
  explicit operator bool() const { return base_ != nullptr; }

 private:
  Mapping(std::byte* base, size_t size_bytes, bool borrowed)
      : base_(base), size_bytes_(size_bytes), borrowed_(borrowed) {}
  void reset() {
    if (base_ != nullptr && !borrowed_) {
      ::munmap(base_, size_bytes_);
    }
    base_ = nullptr;
  }
  std::byte* base_ = nullptr;
  size_t size_bytes_ = 0;
  bool borrowed_ = false;
};

}  // namespace softnpu
