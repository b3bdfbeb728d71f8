#include "request_impl.hpp"

#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace npu {
namespace {

using base::text;
using internal::Binding;
using internal::BoundPort;
using internal::Session;
using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kProducerTimeout{2000};

template <class Items>
auto& at(Items& items, std::size_t index, const char* what) {
  if (index >= items.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                text(what, ' ', index, " was requested, but the model has ", items.size()));
  }
  return items[index];
}

std::vector<Binding> bindings_of(const std::vector<Port>& ports,
                                 const std::vector<BoundPort>& bound, Binding::Direction direction,
                                 std::uint32_t batch) {
  std::vector<Binding> bindings;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    bindings.emplace_back(ports[index], bound[index].argument, direction,
                          bound[index].size_bytes * batch, bound[index].size_bytes);
  }
  return bindings;
}

Tensor part_of(const PortBinding& port) {
  if (!port.tensor) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the binding of port ", port.index, " names no tensor"));
  }
  const std::size_t rest = port.tensor->size_bytes() - port.offset_bytes;
  return port.tensor->slice(port.offset_bytes, port.size_bytes ? port.size_bytes : rest);
}

bool wants_stamps(const Properties& properties) {
  return properties.get(property::profiling) && properties.get(property::profiling_type) == "INFER";
}

}  // namespace

Request::Impl::Engine::Engine(std::shared_ptr<Session> in_session, std::uint32_t lists,
                              bool with_stamps, std::string what)
    : session(std::move(in_session)),
      measurement(session->graph, lists, with_stamps),
      recordings(session->graph, session->queue, measurement, lists),
      submission(session->queue.device(), session->queue.handle(), lists, std::move(what)) {}

Request::Impl::Impl(std::shared_ptr<CompiledModel::Impl> model, std::uint32_t batch)
    : model_(std::move(model)),
      batch_(batch),
      with_stamps_(wants_stamps(model_->properties.values())),
      inputs_(bindings_of(model_->inputs, model_->bound_inputs, Binding::Direction::kInput, batch)),
      outputs_(
          bindings_of(model_->outputs, model_->bound_outputs, Binding::Direction::kOutput, batch)),
      states_(model_->variables.size()),
      values_(model_->argument_count) {
  if (batch_ > 1 && !states_.empty()) {
    throw Error(ErrorCode::kUnsupported, text(base::quoted(model_->name),
                                              " has states, and a batch does not keep the order of "
                                              "inferences: use a request of one item"));
  }
  engine();
}

/// Memory that the device may still touch outlives the inference.
Request::Impl::~Impl() {
  if (base::is_forked_child()) return;
  ending_ = true;  // a callback that always submits again would keep it for ever
  try {
    if (completion_) {
      completion_->remove(*this);
    }
    if (in_flight_) {
      wait_for_end(ze::kNoTimeout);
    }
  } catch (const std::exception& error) {
    base::log_failure("an inference failed while its request was destroyed", error);
  }
  engine_.reset();  // before the memory that its recordings name
}

void Request::Impl::require_idle(const char* what) const {
  if (in_flight_) {
    throw Error(ErrorCode::kInvalidArgument,
                text(what, " while the inference is in flight: wait first"));
  }
}

Request::Impl::Engine& Request::Impl::engine() {
  base::refuse_after_fork();
  const bool lost =
      engine_ && engine_->session->place.context->lost.load(std::memory_order_relaxed);
  if (!settled_ || lost) [[unlikely]] {
    move_to_new_session();
  }
  return *engine_;
}

void Request::Impl::move_to_new_session() {
  if (in_flight_) return;  // the queue of the lost session still has the submission
  auto session = model_->session();
  model_->initialize(*session);
  settled_ = false;
  prepared_ = false;
  recording_ = nullptr;
  engine_ = std::make_unique<Engine>(
      std::move(session), batch_, with_stamps_,
      text("running ", base::quoted(model_->name), " on ", model_->device->info.name));
  measured_ = false;
  for (auto* bindings : {&inputs_, &outputs_}) {
    for (Binding& binding : *bindings) {
      binding.move_to(engine_->session->place);
      changed(binding);
    }
  }
  for (std::size_t index = 0; index < states_.size(); ++index) {
    if (states_[index]) {
      bind_state(index, new_state_memory(index));
    }
  }
  settled_ = true;
}

// ---- Binding

Binding& Request::Impl::input_at(std::size_t index) {
  return at(inputs_, index, "input");
}

Binding& Request::Impl::output_at(std::size_t index) {
  return at(outputs_, index, "output");
}

void Request::Impl::bind_input(std::size_t index, HostMemory memory) {
  bind(input_at(index), memory);
}

void Request::Impl::bind_output(std::size_t index, HostMemory memory) {
  bind(output_at(index), memory);
}

void Request::Impl::bind_input(std::size_t index, const Tensor& tensor, Strides strides) {
  const PortBinding input{.index = index, .tensor = &tensor, .strides_bytes = strides};
  bind({{&input, 1}, {}});
}

void Request::Impl::bind_output(std::size_t index, const Tensor& tensor, Strides strides) {
  const PortBinding output{.index = index, .tensor = &tensor, .strides_bytes = strides};
  bind({{}, {&output, 1}});
}

void Request::Impl::bind(const Bindings& bindings) {
  require_idle("a tensor cannot be bound");
  engine();
  try {
    for (const PortBinding& input : bindings.inputs) {
      Binding& binding = input_at(input.index);
      plan(binding, model_->bound_inputs[input.index], input);
    }
    for (const PortBinding& output : bindings.outputs) {
      Binding& binding = output_at(output.index);
      plan(binding, model_->bound_outputs[output.index], output);
    }
  } catch (...) {
    plan_.clear();
    throw;
  }
  for (Change& change : plan_) {
    change.binding->set(std::move(change.bound));
    changed(*change.binding);
  }
  plan_.clear();
}

void Request::Impl::bind(Binding& binding, HostMemory memory) {
  require_idle("memory cannot be bound");
  if (binding.holds(memory)) return;
  binding.bind(memory, engine().session->place);
  changed(binding);
}

/// Plans for the current session; no call in between moves to another one.
void Request::Impl::plan(Binding& binding, const BoundPort& port, const PortBinding& wanted) {
  const Tensor tensor = part_of(wanted);
  const std::optional<internal::StridedTensor> strided =
      check(binding, port, tensor, wanted.strides_bytes);
  if (!strided) return;
  plan_.push_back({&binding, binding.bound_to(tensor, strided->strides, engine_->session->place)});
}

/// The tensor's future binding; empty if it is bound already. Throws if it cannot be bound.
std::optional<internal::StridedTensor> Request::Impl::check(const Binding& binding,
                                                            const BoundPort& port,
                                                            const Tensor& tensor,
                                                            Strides strides) const {
  if (strides.empty()) {
    if (binding.holds(tensor)) return std::nullopt;
    binding.check(tensor, binding.bytes(), model_->device);
    return internal::StridedTensor{std::nullopt, binding.bytes()};
  }
  if (batch_ > 1) {
    throw Error(ErrorCode::kUnsupported, "the tensors of a batch are dense: they have no strides");
  }
  const internal::StridedTensor strided = internal::strided_tensor(binding.port(), strides);
  if (strided.strides && !port.takes_strides) {
    throw Error(ErrorCode::kUnsupported,
                text(base::quoted(binding.port().name), " of ", base::quoted(model_->name),
                     " takes only dense tensors: name it in NPU_ENABLE_STRIDES_FOR when the model "
                     "is compiled, on a driver of graph extension 1.15 or later"));
  }
  binding.check(tensor, strided.bytes, model_->device);
  return strided;
}

void Request::Impl::changed(const Binding& binding) {
  values_[binding.argument()] = binding.value();
  prepared_ = false;
  recording_ = nullptr;
}

Binding& Request::Impl::allocate(Binding& binding) {
  if (!binding.is_bound()) {
    binding.allocate(engine().session->place);
    changed(binding);
  }
  return binding;
}

Tensor Request::Impl::input(std::size_t index) {
  return allocate(input_at(index)).elements();
}

Tensor Request::Impl::output(std::size_t index) {
  return allocate(output_at(index)).elements();
}

// ---- Running

void Request::Impl::prepare() {
  for (Binding& binding : inputs_) allocate(binding);
  for (Binding& binding : outputs_) allocate(binding);
  for (std::size_t index = 0; index < states_.size(); ++index) state_memory(index);
  collect_producers();
  const auto is_copied = [](const Binding& binding) { return binding.is_copied(); };
  copied_ = std::any_of(inputs_.begin(), inputs_.end(), is_copied) ||
            std::any_of(outputs_.begin(), outputs_.end(), is_copied);
  prepared_ = true;
}

void Request::Impl::collect_producers() {
  producers_.clear();
  files_.clear();
  may_be_exported_ = false;
  for (const Binding& binding : inputs_) add_producer(binding.bound(), dmabuf::FenceUse::kRead);
  for (const Binding& binding : outputs_) add_producer(binding.bound(), dmabuf::FenceUse::kWrite);
  for (const Tensor& state : states_) add_producer(state, dmabuf::FenceUse::kWrite);
}

void Request::Impl::add_producer(const Tensor& tensor, dmabuf::FenceUse use) {
  if (!tensor) return;
  const internal::Allocation& allocation = *internal::allocation_of(tensor);
  const int fd = allocation.buffer_fd();
  may_be_exported_ = may_be_exported_ || (allocation.exportable && fd < 0);
  if (allocation.file) {
    files_.push_back(allocation.file);
  }
  const bool known = std::any_of(
      producers_.begin(), producers_.end(),
      [&](const Producer& producer) { return producer.fd == fd && producer.use == use; });
  if (fd >= 0 && !known) {
    producers_.push_back({fd, use});
  }
}

/// NPU drivers do not wait for fences.
void Request::Impl::wait_for_producers() const {
  for (const auto& producer : producers_) {
    if (!dmabuf::wait_for_producers(producer.fd, producer.use, kProducerTimeout)) {
      throw Error(ErrorCode::kTimeout,
                  text("the producer of an imported DMA-BUF did not finish with it within ",
                       kProducerTimeout.count(), " ms"));
    }
  }
}

std::uint64_t Request::Impl::copy_inputs() {
  std::uint64_t copied = 0;
  for (const Binding& binding : inputs_) {
    if (binding.is_copied()) {
      binding.copy_in();
      ++copies_;
      ++copied;
    }
  }
  return copied;
}

void Request::Impl::copy_outputs() {
  for (const Binding& binding : outputs_) {
    if (binding.is_copied()) {
      binding.copy_out();
      ++copies_;
    }
  }
}

void Request::Impl::set_callback(Callback callback) {
  require_idle("a callback cannot be set");
  if (!callback) {
    callback_ = nullptr;
    return;
  }
  if (!completion_) {
    completion_ = model_->completion();
  }
  callback_ = std::make_shared<const Callback>(std::move(callback));
}

/// Once it is added to the completion, its callback may destroy this object.
std::uint64_t Request::Impl::submit() {
  base::refuse_after_fork();
  if (in_flight_) {
    throw Error(ErrorCode::kInvalidArgument,
                "the request is already in flight: wait for it before submitting it again");
  }
  if (ending_) {
    throw Error(ErrorCode::kCancelled, "the request is being destroyed: it takes no inference");
  }
  engine();
  if (!prepared_) {
    prepare();
  } else if (may_be_exported_) {
    collect_producers();
  }
  if (!producers_.empty()) {
    wait_for_producers();
  }
  // The device, or a copy, would read missing pages of a shortened file, which ends the process.
  for (const auto& file : files_) file->check_unchanged();
  const std::uint64_t copied = copied_ ? copy_inputs() : 0;
  if (model_->first_inference_ns.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    first_submit_ = std::chrono::steady_clock::now();
  }
  measured_ = false;
  execute();
  in_flight_.store(true, std::memory_order_relaxed);
  if (callback_) {
    completion_->add(*this);
  }
  return copied;
}

/// Submits a used recording again as it is: its memory is bound, and so kept.
void Request::Impl::execute() {
  ze::Queue& queue = engine_->session->queue;
  // Taken before the recordings' lock, for which threads that free memory wait.
  queue.take_places(engine_->submission);
  try {
    execute_in(queue);
  } catch (...) {
    queue.give_back_places(engine_->submission);
    throw;
  }
}

void Request::Impl::execute_in(ze::Queue& queue) {
  if (recording_) return queue.submit(*recording_, engine_->submission);
  ze::Recordings::Use use(engine_->recordings, values_);
  queue.submit(use.recording(), engine_->submission);
  use.was_submitted();
  if (!queue.is_chained()) {
    recording_ = &use.recording();
  }
}

bool Request::Impl::wait(nanoseconds timeout) {
  base::refuse_after_fork();
  const bool for_ever = timeout == nanoseconds::max();
  const std::uint64_t timeout_ns =
      for_ever ? ze::kNoTimeout
               : static_cast<std::uint64_t>(std::max(timeout, nanoseconds(0)).count());
  if (!callback_) return !in_flight_ || wait_for_end(timeout_ns);
  std::exception_ptr error;
  if (!completion_->wait(*this, timeout_ns, error)) return false;
  if (error) {
    std::rethrow_exception(error);
  }
  return true;
}

/// After the inference's end, good or bad, the request is no longer in flight.
bool Request::Impl::wait_for_end(std::uint64_t timeout_ns) {
  try {
    if (!engine_->session->queue.wait(engine_->submission, timeout_ns)) return false;
    if (copied_) {
      copy_outputs();
    }
  } catch (...) {
    in_flight_.store(false, std::memory_order_release);
    throw;
  }
  measured_ = true;
  in_flight_.store(false, std::memory_order_release);
  if (model_->first_inference_ns.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    note_first_inference();
  }
  return true;
}

void Request::Impl::note_first_inference() {
  const auto elapsed = nanoseconds(std::chrono::steady_clock::now() - first_submit_).count();
  std::uint64_t none = 0;
  model_->first_inference_ns.compare_exchange_strong(
      none, static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 1)));
}

std::exception_ptr Request::Impl::complete() noexcept {
  try {
    wait_for_end(ze::kNoTimeout);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace npu
