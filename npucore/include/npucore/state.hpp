#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <npucore/export.hpp>
#include <npucore/tensor.hpp>
#include <npucore/types.hpp>

namespace npu {

namespace internal {
class RequestState;
}

/// A variable of a model (ReadValue and Assign), of one request: an inference reads it and leaves
/// its new value there for the next one. It begins with its initial value. Valid as long as its
/// request; not to be touched while the request is in flight. After a lost device every state of
/// the requests that were in use there is back at its initial value: what an unfinished inference
/// left is nobody's result.
class NPU_API State {
 public:
  const std::string& name() const;  ///< the variable's id
  ElementType type() const;
  const Shape& shape() const;
  std::size_t size_bytes() const;

  /// The memory that the device reads and writes: no copy, always the newest value.
  Tensor get() const;
  /// Copies exactly size_bytes() bytes.
  void set(std::span<const std::byte> bytes);
  /// From now on the state lives in this tensor, of at least size_bytes() writable bytes, with the
  /// value that it has: no copy.
  void set(const Tensor& tensor);
  /// Back to its initial value.
  void reset();

 private:
  friend class internal::RequestState;
  State(internal::RequestState& request, std::size_t index) : request_(&request), index_(index) {}
  internal::RequestState* request_;
  std::size_t index_;
};

}  // namespace npu
