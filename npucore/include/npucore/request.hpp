#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <span>

#include <npucore/tensor.hpp>

namespace npu {

/// Bytes from one element of a dimension to the next, outermost dimension first. Empty: dense.
using Strides = std::span<const std::size_t>;

/// Binds one input or output to `size_bytes` bytes of a tensor, which is borrowed for the call.
struct PortBinding {
  std::size_t index;
  const Tensor* tensor;
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;  ///< 0: up to the tensor's end
  Strides strides_bytes = {};
};
/// The tensors of one inference. Inputs and outputs that it does not list keep theirs.
struct Bindings {
  std::span<const PortBinding> inputs, outputs;
};

enum class LayerStatus { kNotRun, kOptimizedOut, kExecuted };
/// How long one layer of a graph took in an inference, by the device's clock.
struct LayerProfile {
  std::string name;
  std::string type;  ///< of the layer, as the compiler calls it
  LayerStatus status = LayerStatus::kNotRun;
  std::uint64_t start_ns = 0;  ///< since the inference began on the device
  std::uint64_t duration_ns = 0;
  std::uint64_t dpu_ns = 0;       ///< in the matrix units
  std::uint64_t software_ns = 0;  ///< in the vector processors
  std::uint64_t dma_ns = 0;       ///< moving data
};

class State;

/// One inference in flight: its command lists, fence and bound tensors. Use a request from one
/// thread at a time; different requests may run from different threads. Any number may be in
/// flight: when the driver's queue is full, submit() waits for the oldest.
///
/// After an Error(kDeviceLost) the next use loads the model again, in a new context, and goes on.
/// Each lost inference is reported once.
///
/// A child process cannot use what its parent opened: after fork() Device::open() and submit()
/// throw Error(kUnsupported). Fork first, then open the device.
class NPU_API Request {
 public:
  struct Impl;
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();  ///< waits for the inference in flight and its callback, whose submit() throws then

  /// Binds a tensor of at least batch() times the port's bytes. Cheap if it is bound already.
  /// Throws while in flight. Throws Error(kUnsupported) for strides if the graph takes only dense
  /// tensors there: compile it with NPU_ENABLE_STRIDES_FOR.
  void set_input(std::size_t index, const Tensor& tensor, Strides strides_bytes = {});
  void set_output(std::size_t index, const Tensor& tensor, Strides strides_bytes = {});
  /// Binds the application's memory: used in place if the driver can import it (it must begin on a
  /// page), else copied by every inference, which copies() counts.
  void set_input(std::size_t index, HostMemory memory);
  void set_output(std::size_t index, HostMemory memory);
  /// The bound memory, as far as the inference uses it and with the port's type, or the copy of
  /// host memory that is not used in place; the first call allocates some if nothing was bound.
  /// Reading it while in flight is a race.
  Tensor input(std::size_t index);
  Tensor output(std::size_t index);
  /// The same by name or tensor name. Throw Error(kNotFound) that lists the names.
  void set_input(const std::string& name, const Tensor& tensor, Strides strides_bytes = {});
  void set_output(const std::string& name, const Tensor& tensor, Strides strides_bytes = {});
  Tensor input(const std::string& name);
  Tensor output(const std::string& name);
  /// Items that one submission works on; each tensor holds as many, one behind the other.
  std::size_t batch() const;

  /// Called after each inference, with its error or null, on a thread of the model's (models with
  /// EXCLUSIVE_ASYNC_REQUESTS share one). It may bind tensors, submit again and even destroy this
  /// or other requests, whose callbacks it then waits for, except one that waits for it; what it
  /// throws is logged. Empty: none. Throws while in flight.
  void set_callback(std::function<void(std::exception_ptr)> callback);

  /// Throws Error(kDeviceLost) if the device refuses: the inference is lost.
  void submit();
  /// Binds and submits in one call; if it cannot bind all, it does not submit. Returns how many
  /// inputs were copied for it because the device cannot reach them.
  std::uint64_t submit(const Bindings& bindings);
  /// False when `timeout` passed first. Throws if the inference failed; the request can be
  /// submitted again then. If it has a callback, waits until that has returned. In a callback that
  /// would wait for itself without end it throws Error(kInvalidArgument).
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());
  void infer();  ///< submit() and wait()

  /// The model's variables, valid as long as the request; empty if there are none.
  std::vector<State> states();
  /// The last inference layer by layer; for a batch, its first item. Throws Error(kUnsupported) if
  /// the model was not compiled with PERF_COUNT.
  std::vector<LayerProfile> profile() const;
  /// Time on the device of the last inference, with all items of a batch. NPU_PROFILING_TYPE INFER
  /// is enough, and costs less than times of layers. Throws like profile().
  std::uint64_t inference_time_ns() const;
  /// How many buffers were copied so far because the device could not reach them.
  std::uint64_t copies() const;

 private:
  friend struct internal::Pimpl;
  explicit Request(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A model's variable (ReadValue and Assign) in one request. It begins with its initial value; each
/// inference reads it and leaves the value for the next. Valid as long as the request; do not touch
/// it in flight. After a lost device it begins with its initial value again.
class NPU_API State {
 public:
  const std::string& name() const;  ///< the variable's id
  ElementType type() const;
  const Shape& shape() const;
  std::size_t size_bytes() const;
  Tensor get() const;  ///< the memory that the device reads and writes, always the newest value
  void set(std::span<const std::byte> bytes);  ///< copies exactly size_bytes() bytes
  /// Uses this tensor as the state from now on: at least size_bytes() writable bytes.
  void set(const Tensor& tensor);
  void reset();  ///< back to the initial value

 private:
  friend struct internal::Pimpl;
  State(Request::Impl& request, std::size_t index) : request_(&request), index_(index) {}
  Request::Impl* request_;
  std::size_t index_;
};

/// The ends of inferences, behind a descriptor for epoll, poll or an event loop. Copies share it,
/// and any threads may use it at once. Requests that are destroyed first have their ends told, too;
/// once its last copy is gone, nobody is told any more.
class NPU_API Completions {
 public:
  struct Impl;
  struct Done {
    std::uint64_t key;         ///< as watch() got it
    std::exception_ptr error;  ///< as Request::wait() throws it; null: the results are there
  };
  Completions();  ///< throws Error(kIo) if the process has too many open files
  /// An eventfd, borrowed: only poll it. It can be read as long as there is something to take.
  int fd() const;
  /// Tells the end of each further inference of the request, in place of its callback, until
  /// another is set. Throws while in flight.
  void watch(Request& request, std::uint64_t key);
  /// All that have ended since the last call, in that order; empty: none. Those requests may be
  /// submitted again or destroyed. Throws Error(kOutOfMemory) if the memory to note an end was
  /// missing: Request::wait() tells that one, the next call the others.
  std::vector<Done> take();

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace npu
