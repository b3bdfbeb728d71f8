#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "binding.hpp"

namespace pynpu {

/// Whether the object shows its bytes: bytes, memoryview, mmap, a NumPy array, ...
inline bool has_bytes(nb::handle object) {
  return PyObject_CheckBuffer(object.ptr()) != 0;
}

/// An object's bytes in place, and the object kept alive. May be destroyed by any thread.
class Buffer {
 public:
  /// Raises Python's own error if the object has no bytes, or not in one piece.
  explicit Buffer(nb::handle object);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(view_->buf), static_cast<std::size_t>(view_->len)};
  }

 private:
  std::unique_ptr<Py_buffer> view_;
};

}  // namespace pynpu
