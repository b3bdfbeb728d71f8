#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <npucore/export.hpp>
#include <npucore/profiling.hpp>
#include <npucore/state.hpp>
#include <npucore/tensor.hpp>

namespace npu {

namespace internal {
class RequestState;
}

/// What one input or output is bound to: `size_bytes` bytes of a tensor, which is borrowed for the
/// call.
struct PortBinding {
  std::size_t index;
  const Tensor* tensor;
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;                       ///< 0: up to the tensor's end
  std::span<const std::size_t> strides_bytes = {};  ///< as set_input() has them; empty: dense
};

/// What an inference runs on. Inputs and outputs that are not in it stay bound to what they were.
struct Bindings {
  std::span<const PortBinding> inputs;
  std::span<const PortBinding> outputs;
};

/// One inference in flight: its own command lists, fence and bound tensors. Not for two threads at
/// once; different requests of one model may run from different threads. Any number of them may be
/// in flight: past the places of the driver's queue submit() waits for the oldest.
///
/// After an Error(kDeviceLost) the next use loads the model again in a new context by itself, and
/// goes on. Each inference that was lost is told once.
///
/// In a child process after fork() nothing of the parent's can be used: every call is an
/// Error(kUnsupported). Open the device after the fork.
class NPU_API Request {
 public:
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();  ///< waits for an inference in flight, and for its callback

  /// Binds a tensor of at least the port's bytes, times batch(). Cheap when it is already bound.
  /// Throws while in flight.
  void set_input(std::size_t index, const Tensor& tensor);
  void set_output(std::size_t index, const Tensor& tensor);
  /// The application's memory: imported and used in place where the driver can (it must begin on a
  /// page), else copied by every inference: see copies(). It stays bound until something else is.
  void set_input(std::size_t index, HostMemory memory);
  void set_output(std::size_t index, HostMemory memory);
  /// A tensor whose dimensions lie so many bytes apart, outermost first. Throws Error(kUnsupported)
  /// where the graph's argument takes only dense tensors: compile with NPU_ENABLE_STRIDES_FOR.
  void set_input(std::size_t index, const Tensor& tensor,
                 std::span<const std::size_t> strides_bytes);
  void set_output(std::size_t index, const Tensor& tensor,
                  std::span<const std::size_t> strides_bytes);
  /// The bound tensor; the first call allocates one where nothing was bound. Where host memory is
  /// copied it is the copy. Reading it while in flight is a race.
  Tensor input(std::size_t index);
  Tensor output(std::size_t index);
  /// Items that one submission works on: tensors are so many times as large as their ports.
  std::size_t batch() const;

  /// Called after each inference, with its error or null, in a thread that the model has for that
  /// (with EXCLUSIVE_ASYNC_REQUESTS all models share one). It may bind tensors, submit again and
  /// even destroy the request. What it throws is logged. Throws while in flight; empty: none.
  void set_callback(std::function<void(std::exception_ptr)> callback);

  /// Throws Error(kDeviceLost) where the device refuses: the inference is then lost.
  void submit();
  /// Binds and submits, in one call: nothing is submitted where one of them cannot be bound.
  /// Returns how many buffers were copied for it because the device cannot reach them.
  std::uint64_t submit(const Bindings& bindings);
  /// False when `timeout` passed first. Throws when the inference failed; the request can then be
  /// submitted again. With a callback it returns after the callback of the inference that was in
  /// flight, and throws that inference's error too.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());
  /// submit() and wait().
  void infer();

  /// The model's variables; empty for a model without. Valid as long as the request.
  std::vector<State> states();

  /// The last inference layer by layer. Throws Error(kUnsupported) for a model that was not
  /// compiled with PERF_COUNT. Of a batch: its first item.
  std::vector<LayerProfile> profile() const;
  /// What the device took for the last inference, for all items of a batch together. Also with
  /// NPU_PROFILING_TYPE INFER, which costs less than layers. Throws as profile() does.
  std::uint64_t inference_time_ns() const;
  /// Buffers that were copied because the device could not reach them, since the request was made.
  std::uint64_t copies() const;

 private:
  friend class CompiledModel;
  explicit Request(std::unique_ptr<internal::RequestState> state);
  std::unique_ptr<internal::RequestState> state_;
};

}  // namespace npu
