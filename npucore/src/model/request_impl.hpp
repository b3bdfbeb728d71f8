#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <npucore/request.hpp>
#include <npucore/tensor.hpp>

#include "base/mapped_file.hpp"
#include "base/pimpl.hpp"
#include "dmabuf/dmabuf.hpp"
#include "ze/measurement.hpp"
#include "ze/recordings.hpp"

#include "binding.hpp"
#include "compiled_model_impl.hpp"
#include "completion.hpp"

namespace npu {

/// The bindings and variables of one request, and the objects that run the graph on them in the
/// model's current session.
struct NPU_LOCAL Request::Impl final : public internal::Completed {
  Impl(std::shared_ptr<CompiledModel::Impl> model, std::uint32_t batch);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  std::size_t input_index(const std::string& name) const {
    return internal::port_index(model_->inputs, name, "input");
  }
  std::size_t output_index(const std::string& name) const {
    return internal::port_index(model_->outputs, name, "output");
  }
  void bind_input(std::size_t index, HostMemory memory);
  void bind_output(std::size_t index, HostMemory memory);
  void bind_input(std::size_t index, const Tensor& tensor, Strides strides);
  void bind_output(std::size_t index, const Tensor& tensor, Strides strides);
  /// Binds all of them or, if it throws, none.
  void bind(const Bindings& bindings);
  Tensor input(std::size_t index);
  Tensor output(std::size_t index);
  std::uint32_t batch() const { return batch_; }
  std::uint64_t copies() const { return copies_; }

  void set_callback(Callback callback);
  /// Returns how many inputs were copied.
  std::uint64_t submit();
  bool wait(std::chrono::nanoseconds timeout);

  std::vector<State> states();
  const internal::Variable& variable(std::size_t index) const { return model_->variables[index]; }
  const Tensor& state_memory(std::size_t index);
  void set_state(std::size_t index, std::span<const std::byte> bytes);
  void set_state(std::size_t index, const Tensor& tensor);
  void reset_state(std::size_t index);

  std::vector<LayerProfile> profile() const;
  std::uint64_t inference_time_ns() const;

 private:
  /// A buffer that another device may still be working on when this request is submitted.
  struct Producer {
    int fd;
    dmabuf::FenceUse use;
  };
  /// The parts that belong to one session, in the order in which they must be made.
  struct Engine {
    Engine(std::shared_ptr<internal::Session> in_session, std::uint32_t lists, bool with_stamps,
           std::string what);
    const std::shared_ptr<internal::Session> session;
    const ze::Measurement measurement;
    ze::Recordings recordings;
    ze::Submission submission;
  };

  std::shared_ptr<const Callback> callback() const override { return callback_; }
  std::exception_ptr complete() noexcept override;

  void require_idle(const char* what) const;
  /// A planned binding of a port.
  struct Change {
    internal::Binding* binding;
    internal::Binding::Bound bound;
  };

  /// The engine of the current session.
  Engine& engine();
  void move_to_new_session();
  internal::Binding& input_at(std::size_t index);
  internal::Binding& output_at(std::size_t index);
  void bind(internal::Binding& binding, HostMemory memory);
  void plan(internal::Binding& binding, const internal::BoundPort& port, const PortBinding& wanted);
  std::optional<internal::StridedTensor> check(const internal::Binding& binding,
                                               const internal::BoundPort& port,
                                               const Tensor& tensor, Strides strides) const;
  internal::Binding& allocate(internal::Binding& binding);
  void changed(const internal::Binding& binding);
  void bind_state(std::size_t index, Tensor memory);
  Tensor new_state_memory(std::size_t index);

  void prepare();
  void collect_producers();
  void add_producer(const Tensor& tensor, dmabuf::FenceUse use);
  void execute();
  void execute_in(ze::Queue& queue);
  void wait_for_producers() const;
  std::uint64_t copy_inputs();
  void copy_outputs();
  bool wait_for_end(std::uint64_t timeout_ns);
  void note_first_inference();

  const std::shared_ptr<CompiledModel::Impl> model_;
  const std::uint32_t batch_;
  const bool with_stamps_;
  std::unique_ptr<Engine> engine_;
  std::vector<internal::Binding> inputs_, outputs_;
  std::vector<Change> plan_;               ///< a member, so that its memory is used again
  std::vector<Tensor> states_;             ///< by variable; empty until needed
  std::vector<ze::ArgumentValue> values_;  ///< of the graph's arguments, by their index
  /// The recording last submitted with values_; null: the next submit() picks one.
  ze::Recording* recording_ = nullptr;
  std::vector<Producer> producers_;
  std::vector<std::shared_ptr<const base::MappedFile>> files_;  ///< that inputs are mapped from
  bool settled_ = false;          ///< bindings and states are reached from engine_'s session
  bool prepared_ = false;         ///< everything is bound, and producers_ are those of the tensors
  bool copied_ = false;           ///< some binding is copied
  bool may_be_exported_ = false;  ///< some binding may be exported, and then has producers
  bool measured_ = false;         ///< the last submission of this session has ended well
  std::atomic<bool> in_flight_ = false;
  std::atomic<bool> ending_ = false;  ///< being destroyed
  std::chrono::steady_clock::time_point first_submit_;
  std::atomic<std::uint64_t> copies_ = 0;
  std::shared_ptr<const Callback> callback_;
  std::shared_ptr<internal::Completion> completion_;  ///< set with the first callback
};

}  // namespace npu
