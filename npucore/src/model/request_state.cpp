#include "core/request_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "core/forked.hpp"
#include "npucore/error.hpp"
#include "ze/result.hpp"

namespace npu::internal {
namespace {

using base::text;
using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kProducerTimeout{2000};
constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

template <class Items>
auto& at(Items& items, std::size_t index, const char* what) {
  if (index >= items.size())
    throw Error(ErrorCode::kInvalidArgument,
                text(what, ' ', index, " was asked for, the model has ", items.size()));
  return items[index];
}

std::vector<Binding> bindings_of(const std::vector<Port>& ports,
                                 const std::vector<BoundPort>& bound, Binding::Direction direction,
                                 std::uint32_t batch) {
  std::vector<Binding> bindings;
  for (std::size_t index = 0; index < ports.size(); ++index)
    bindings.emplace_back(ports[index], bound[index].argument, direction,
                          bound[index].size_bytes * batch, bound[index].size_bytes);
  return bindings;
}

bool wants_timestamps(const Properties& properties) {
  return properties.get(property::profiling) && properties.get(property::profiling_type) == "INFER";
}

}  // namespace

RequestState::Engine::Engine(std::shared_ptr<Session> in_session, std::uint32_t lists,
                             bool with_timestamps)
    : session(std::move(in_session)),
      loader(session->context->loader),
      recorder(*session, lists, measurement),
      fence(ze::make_fence(*session->context, session->queue)) {
  if (session->graph.profiling_enabled())
    measurement.layers = ze::make_profiling_slots(*session->context, session->graph, lists);
  if (with_timestamps)
    measurement.timestamps =
        ze::Memory::allocate(*session->context, lists * Measurement::kTimestampBytes,
                             ze::Memory::CpuCaching::kCached, false);
}

RequestState::RequestState(std::shared_ptr<CompiledModelState> model, std::uint32_t batch)
    : model_(std::move(model)),
      batch_(batch),
      with_timestamps_(wants_timestamps(model_->properties.values())),
      inputs_(bindings_of(model_->inputs, model_->bound_inputs, Binding::Direction::kInput, batch)),
      outputs_(
          bindings_of(model_->outputs, model_->bound_outputs, Binding::Direction::kOutput, batch)),
      states_(model_->variables.size()),
      values_(model_->argument_count) {
  if (batch_ > 1 && !states_.empty())
    throw Error(ErrorCode::kUnsupported, text(base::quoted(model_->name),
                                              " has states, whose order of inferences a batch does "
                                              "not keep: use a request of one item"));
  flight_.lists = batch_;
  engine();
}

RequestState::~RequestState() {
  try {
    const bool own_end = completion_ ? completion_->remove(*this) : true;
    if (own_end && in_flight_) wait_for_fence(kForEver);
  } catch (const std::exception& error) {
    base::log(LogLevel::kError,
              text("an inference ended badly while its request was destroyed: ", error.what()));
  }
}

void RequestState::require_idle(const char* what) const {
  if (in_flight_)
    throw Error(ErrorCode::kInvalidArgument,
                text(what, " while the inference is in flight: wait first"));
}

RequestState::Engine& RequestState::engine() {
  if (!settled_ || engine_->session->context->lost.load(std::memory_order_relaxed)) [[unlikely]]
    move_to_new_session();
  return *engine_;
}

void RequestState::move_to_new_session() {
  auto session = model_->session();
  model_->initialize(*session);
  settled_ = false;
  prepared_ = false;
  engine_ = std::make_unique<Engine>(std::move(session), batch_, with_timestamps_);
  flight_.fence = engine_->fence.get();
  measured_ = false;
  for (auto* bindings : {&inputs_, &outputs_})
    for (Binding& binding : *bindings) {
      binding.move_to(model_->device, engine_->session->context);
      changed(binding);
    }
  for (std::size_t index = 0; index < states_.size(); ++index)
    if (states_[index]) bind_state(index, new_state_memory(index));
  settled_ = true;
}

// ---- Binding

Binding& RequestState::input_at(std::size_t index) {
  return at(inputs_, index, "input");
}

Binding& RequestState::output_at(std::size_t index) {
  return at(outputs_, index, "output");
}

void RequestState::bind_input(std::size_t index, const Tensor& tensor) {
  bind(input_at(index), tensor);
}

void RequestState::bind_output(std::size_t index, const Tensor& tensor) {
  bind(output_at(index), tensor);
}

void RequestState::bind_input(std::size_t index, HostMemory memory) {
  bind(input_at(index), memory);
}

void RequestState::bind_output(std::size_t index, HostMemory memory) {
  bind(output_at(index), memory);
}

void RequestState::bind_input(std::size_t index, const Tensor& tensor,
                              std::span<const std::size_t> strides) {
  bind(input_at(index), model_->bound_inputs[index], tensor, strides);
}

void RequestState::bind_output(std::size_t index, const Tensor& tensor,
                               std::span<const std::size_t> strides) {
  bind(output_at(index), model_->bound_outputs[index], tensor, strides);
}

void RequestState::bind(Binding& binding, const Tensor& tensor) {
  require_idle("a tensor cannot be bound");
  if (binding.holds(tensor)) return;
  binding.bind(tensor, std::nullopt, binding.bytes(), model_->device, engine().session->context);
  changed(binding);
}

void RequestState::bind(Binding& binding, HostMemory memory) {
  require_idle("memory cannot be bound");
  if (binding.holds(memory)) return;
  binding.bind(memory, model_->device, engine().session->context);
  changed(binding);
}

void RequestState::bind(Binding& binding, const BoundPort& port, const Tensor& tensor,
                        std::span<const std::size_t> strides) {
  require_idle("a tensor cannot be bound");
  if (batch_ > 1)
    throw Error(ErrorCode::kUnsupported, "the tensors of a batch are dense: they have no strides");
  const StridedTensor strided = strided_tensor(binding.port(), strides);
  if (strided.strides && !port.takes_strides)
    throw Error(ErrorCode::kUnsupported,
                text(base::quoted(binding.port().name), " of ", base::quoted(model_->name),
                     " takes only dense tensors: name it in NPU_ENABLE_STRIDES_FOR when the model "
                     "is compiled, on a driver of graph extension 1.15 or later"));
  binding.bind(tensor, strided.strides, strided.bytes, model_->device, engine().session->context);
  changed(binding);
}

void RequestState::changed(const Binding& binding) {
  values_[binding.argument()] = binding.value();
  prepared_ = false;
}

Tensor RequestState::allocate(Binding& binding) {
  if (!binding.is_bound()) {
    binding.allocate(model_->device, engine().session->context);
    changed(binding);
  }
  return binding.tensor();
}

Tensor RequestState::input(std::size_t index) {
  return allocate(input_at(index));
}

Tensor RequestState::output(std::size_t index) {
  return allocate(output_at(index));
}

// ---- Running

void RequestState::prepare() {
  for (Binding& binding : inputs_) allocate(binding);
  for (Binding& binding : outputs_) allocate(binding);
  for (std::size_t index = 0; index < states_.size(); ++index) state_memory(index);
  collect_producers();
  const auto is_copied = [](const Binding& binding) { return binding.is_copied(); };
  copied_ = std::any_of(inputs_.begin(), inputs_.end(), is_copied) ||
            std::any_of(outputs_.begin(), outputs_.end(), is_copied);
  // A chained submission's lists are recorded with its events.
  if (!engine_->session->chain) lists_ = engine_->recorder.lists_for(values_);
  prepared_ = true;
}

void RequestState::collect_producers() {
  producers_.clear();
  const auto add = [this](const Binding& binding, dmabuf::FenceUse use) {
    const int fd = binding.dmabuf_fd();
    const bool known = std::any_of(
        producers_.begin(), producers_.end(),
        [&](const Producer& producer) { return producer.fd == fd && producer.use == use; });
    if (fd >= 0 && !known) producers_.push_back({fd, use});
  };
  for (const Binding& binding : inputs_) add(binding, dmabuf::FenceUse::kRead);
  for (const Binding& binding : outputs_) add(binding, dmabuf::FenceUse::kWrite);
}

/// The NPU's driver waits for nobody's fences.
void RequestState::wait_for_producers() const {
  for (const auto& producer : producers_)
    if (!dmabuf::wait_for_producers(producer.fd, producer.use, kProducerTimeout))
      throw Error(ErrorCode::kTimeout,
                  text("the producer of an imported DMA-BUF was not done with it within ",
                       kProducerTimeout.count(), " ms"));
}

void RequestState::copy_inputs() {
  for (const Binding& binding : inputs_)
    if (binding.is_copied()) {
      binding.copy_in();
      ++copies_;
    }
}

void RequestState::copy_outputs() {
  for (const Binding& binding : outputs_)
    if (binding.is_copied()) {
      binding.copy_out();
      ++copies_;
    }
}

void RequestState::set_callback(Callback callback) {
  require_idle("a callback cannot be set");
  if (!callback) {
    callback_ = nullptr;
    return;
  }
  if (!completion_) completion_ = model_->completion();
  callback_ = std::make_shared<const Callback>(std::move(callback));
}

void RequestState::submit() {
  if (in_flight_)
    throw Error(ErrorCode::kInvalidArgument,
                "the request is in flight already: wait for it before it is submitted again");
  refuse_after_fork();
  Engine& engine = this->engine();
  if (!prepared_) prepare();
  if (!producers_.empty()) wait_for_producers();
  if (copied_) copy_inputs();
  if (model_->first_inference_ns.load(std::memory_order_relaxed) == 0) [[unlikely]]
    first_submit_ = std::chrono::steady_clock::now();
  measured_ = false;
  if (engine.session->chain) [[unlikely]]
    execute_chained();
  else
    execute(lists_);
  if (callback_) completion_->add(*this);
}

void RequestState::execute(std::span<ze_command_list_handle_t> lists) {
  Session& session = *engine_->session;
  session.in_flight.enter(flight_);
  in_flight_.store(true, std::memory_order_relaxed);
  const ze_result_t result = engine_->loader.zeCommandQueueExecuteCommandLists(
      session.queue.get(), static_cast<std::uint32_t>(lists.size()), lists.data(),
      engine_->fence.get());
  if (result != ZE_RESULT_SUCCESS) [[unlikely]] {
    session.in_flight.leave(flight_);
    in_flight_ = false;
    fail(result, "zeCommandQueueExecuteCommandLists");
  }
}

void RequestState::execute_chained() {
  Chain& chain = *engine_->session->chain;
  std::scoped_lock lock(chain.mutex());
  execute(engine_->recorder.chained_lists_for(values_));
  chain.advance(batch_);
}

bool RequestState::wait(nanoseconds timeout) {
  const bool for_ever = timeout == nanoseconds::max();
  const std::uint64_t timeout_ns =
      for_ever ? kForEver : static_cast<std::uint64_t>(std::max(timeout, nanoseconds(0)).count());
  if (!callback_) return !in_flight_ || wait_for_fence(timeout_ns);
  std::exception_ptr error;
  if (!completion_->wait(*this, timeout_ns, error)) return false;
  if (error) std::rethrow_exception(error);
  return true;
}

bool RequestState::wait_for_fence(std::uint64_t timeout_ns) {
  const ze::DeviceContext& device = *engine_->session->context;
  ze_result_t result = ZE_RESULT_NOT_READY;
  do {
    const std::uint64_t look = timeout_ns == kForEver ? kLookNs : timeout_ns;
    result = internal::wait_for_fence(device, engine_->fence.get(), look);
  } while (result == ZE_RESULT_NOT_READY && timeout_ns == kForEver);
  if (result == ZE_RESULT_NOT_READY) return false;
  finish(result);
  return true;
}

/// The fence has told `result`.
void RequestState::finish(ze_result_t result) {
  engine_->session->in_flight.leave(flight_);
  const ze_result_t reset = engine_->loader.zeFenceReset(engine_->fence.get());
  if (result == ZE_RESULT_SUCCESS && copied_) copy_outputs();
  measured_ = result == ZE_RESULT_SUCCESS;
  in_flight_.store(false, std::memory_order_release);
  if (result != ZE_RESULT_SUCCESS) [[unlikely]]
    fail(result, "zeFenceHostSynchronize");
  ze::check(reset, "zeFenceReset");
  if (model_->first_inference_ns.load(std::memory_order_relaxed) == 0) [[unlikely]]
    note_first_inference();
}

void RequestState::note_first_inference() {
  const auto elapsed = nanoseconds(std::chrono::steady_clock::now() - first_submit_).count();
  std::uint64_t none = 0;
  model_->first_inference_ns.compare_exchange_strong(
      none, static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 1)));
}

std::exception_ptr RequestState::complete() noexcept {
  try {
    wait_for_fence(kForEver);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void RequestState::fail(ze_result_t result, const char* call) {
  // Drivers report a context that a memory fault has poisoned as UNKNOWN.
  const bool lost =
      result == ZE_RESULT_ERROR_UNKNOWN || ze::error_code(result) == ErrorCode::kDeviceLost;
  if (lost) engine_->session->context->lost = true;
  throw ze::make_error(
      lost ? ErrorCode::kDeviceLost : ze::error_code(result), result, call,
      text("running ", base::quoted(model_->name), " on ", model_->device->info.name,
           lost ? "; this inference is lost, the next one loads the model again" : ""));
}

}  // namespace npu::internal
