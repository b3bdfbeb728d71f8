#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "npucore/export.hpp"
#include "npucore/tensor.hpp"

namespace npu {

namespace internal {
class RequestState;
}

/// One inference in flight: its own command list, fence and bound tensors. Not for two threads at
/// once; different requests of one model may run from different threads.
class NPU_API Request {
 public:
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();  ///< waits for an inference in flight

  /// Binds a tensor of at least the port's bytes. Cheap when it is already bound. Throws while in
  /// flight.
  void set_input(std::size_t index, const Tensor& tensor);
  void set_output(std::size_t index, const Tensor& tensor);
  /// The bound tensor; the first call allocates one where nothing was bound. Reading it while in
  /// flight is a race.
  Tensor input(std::size_t index);
  Tensor output(std::size_t index);

  void submit();
  /// False when `timeout` passed first. Throws when the inference failed; the request can then be
  /// submitted again.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());
  /// submit() and wait().
  void infer();

 private:
  friend class CompiledModel;
  explicit Request(std::unique_ptr<internal::RequestState> state);
  std::unique_ptr<internal::RequestState> state_;
};

}  // namespace npu
