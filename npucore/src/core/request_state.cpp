#include "core/request_state.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "npucore/error.hpp"
#include "ze/result.hpp"

namespace npu::internal {
namespace {

using base::text;
using std::chrono::nanoseconds;

// A kernel queue has 62 places; past them the driver blocks for 2 s and then fails.
constexpr int kMostInFlight = 60;
constexpr std::chrono::milliseconds kProducerTimeout{2000};
// How long one look at the fence lasts: a driver reports a hung device as "not ready" for ever.
constexpr nanoseconds kLook = std::chrono::seconds(1);

bool device_is_lost(const ze::DeviceContext& device) {
  const ze_result_t status = device.loader.zeDeviceGetStatus(device.npu.device);
  return status == ZE_RESULT_ERROR_DEVICE_LOST || status == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

template <class Items>
auto& at(Items& items, std::size_t index, const char* what) {
  if (index >= items.size())
    throw Error(ErrorCode::kInvalidArgument,
                text(what, ' ', index, " was asked for, the model has ", items.size()));
  return items[index];
}

}  // namespace

RequestState::RequestState(std::shared_ptr<CompiledModelState> model)
    : model_(std::move(model)),
      loader_(model_->device->ze.loader),
      list_(ze::make_command_list(model_->device->ze)),
      fence_(ze::make_fence(model_->device->ze, model_->queue)),
      inputs_(model_->inputs.size()),
      outputs_(model_->outputs.size()) {
  if (model_->graph->profiling_enabled())
    profiling_ = ze::make_profiling_slot(model_->device->ze, *model_->graph);
}

RequestState::~RequestState() {
  try {
    wait(nanoseconds::max());
  } catch (const std::exception& error) {
    base::log(LogLevel::kError,
              text("an inference ended badly while its request was destroyed: ", error.what()));
  }
}

void RequestState::bind_input(std::size_t index, const Tensor& tensor) {
  Tensor& slot = at(inputs_, index, "input");
  bind(slot, model_->bound_inputs[index], model_->inputs[index], tensor);
}

void RequestState::bind_output(std::size_t index, const Tensor& tensor) {
  Tensor& slot = at(outputs_, index, "output");
  bind(slot, model_->bound_outputs[index], model_->outputs[index], tensor);
}

void RequestState::bind(Tensor& slot, const BoundPort& port, const Port& description,
                        const Tensor& tensor) {
  if (in_flight_)
    throw Error(ErrorCode::kInvalidArgument,
                "a tensor cannot be bound while the inference is in flight: wait first");
  if (!tensor || tensor.size_bytes() < port.size_bytes)
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for ", base::quoted(description.name), " has ",
                     tensor.size_bytes(), " bytes, ", to_string(description.type),
                     to_string(description.shape), " needs ", port.size_bytes));
  if (slot.data() == tensor.data() && slot.allocation() == tensor.allocation()) return;
  if (tensor.allocation()->device != model_->device)
    throw Error(ErrorCode::kInvalidArgument, text("the tensor for ", base::quoted(description.name),
                                                  " was made on another device than the model"));
  slot = tensor;
  recorded_ = false;
}

const Tensor& RequestState::allocate(Tensor& slot, const BoundPort& port, MemoryUse use) {
  if (!slot) {
    slot = Tensor::allocate(model_->public_device, std::max<std::size_t>(port.size_bytes, 1), use);
    recorded_ = false;
  }
  return slot;
}

const Tensor& RequestState::input(std::size_t index) {
  Tensor& slot = at(inputs_, index, "input");
  return allocate(slot, model_->bound_inputs[index], MemoryUse::kInput);
}

const Tensor& RequestState::output(std::size_t index) {
  Tensor& slot = at(outputs_, index, "output");
  return allocate(slot, model_->bound_outputs[index], MemoryUse::kOutput);
}

void RequestState::record() {
  for (std::size_t index = 0; index < inputs_.size(); ++index) input(index);
  for (std::size_t index = 0; index < outputs_.size(); ++index) output(index);
  if (std::exchange(used_, true))
    ze::check(loader_.zeCommandListReset(list_.get()), "zeCommandListReset");
  append();
  ze::check(loader_.zeCommandListClose(list_.get()), "zeCommandListClose");
  collect_producers();
  recorded_ = true;
}

void RequestState::append() {
  const ze::GraphTable& table = model_->device->ze.graph;
  ze_graph_handle_t graph = model_->graph->handle();
  const auto set_all = [&](const std::vector<Tensor>& tensors,
                           const std::vector<BoundPort>& ports) {
    for (std::size_t index = 0; index < tensors.size(); ++index)
      ze::check(table->pfnSetArgumentValue(graph, ports[index].argument, tensors[index].data()),
                "pfnSetArgumentValue");
  };
  std::scoped_lock lock(model_->arguments_mutex);
  set_all(inputs_, model_->bound_inputs);
  set_all(outputs_, model_->bound_outputs);
  ze::check(
      table->pfnAppendGraphExecute(
          list_.get(), graph, profiling_ ? profiling_->query.get() : nullptr, nullptr, 0, nullptr),
      "pfnAppendGraphExecute",
      "a bound tensor is smaller than the driver wants, or not of this context");
}

void RequestState::collect_producers() {
  producers_.clear();
  for (const auto& tensor : inputs_)
    if (tensor.is_imported())
      producers_.push_back({tensor.allocation()->fd.get(), dmabuf::FenceUse::kRead});
  for (const auto& tensor : outputs_)
    if (tensor.is_imported())
      producers_.push_back({tensor.allocation()->fd.get(), dmabuf::FenceUse::kWrite});
}

/// The NPU's driver waits for nobody's fences.
void RequestState::wait_for_producers() const {
  for (const auto& producer : producers_)
    if (!dmabuf::wait_for_producers(producer.fd, producer.use, kProducerTimeout))
      throw Error(ErrorCode::kTimeout,
                  text("the producer of an imported DMA-BUF was not done with it within ",
                       kProducerTimeout.count(), " ms"));
}

void RequestState::submit() {
  if (in_flight_)
    throw Error(ErrorCode::kInvalidArgument,
                "the request is in flight already: wait for it before it is submitted again");
  if (!recorded_) record();
  if (!producers_.empty()) wait_for_producers();
  if (model_->in_flight.fetch_add(1, std::memory_order_relaxed) >= kMostInFlight) {
    model_->in_flight.fetch_sub(1, std::memory_order_relaxed);
    throw Error(ErrorCode::kInvalidArgument,
                text("more than ", kMostInFlight,
                     " inferences of one model in flight: wait for some of them first"));
  }
  ze_command_list_handle_t list = list_.get();
  in_flight_ = true;
  const ze_result_t result =
      loader_.zeCommandQueueExecuteCommandLists(model_->queue.get(), 1, &list, fence_.get());
  if (result != ZE_RESULT_SUCCESS) [[unlikely]] {
    end_flight();
    fail(result, "zeCommandQueueExecuteCommandLists");
  }
}

bool RequestState::wait(nanoseconds timeout) {
  if (!in_flight_) return true;
  const bool for_ever = timeout == nanoseconds::max();
  ze_result_t result = ZE_RESULT_NOT_READY;
  do {
    const nanoseconds look = for_ever ? kLook : std::max(timeout, nanoseconds(0));
    result = loader_.zeFenceHostSynchronize(fence_.get(), static_cast<std::uint64_t>(look.count()));
    if (result == ZE_RESULT_NOT_READY && look >= kLook && device_is_lost(model_->device->ze))
      result = ZE_RESULT_ERROR_DEVICE_LOST;
  } while (result == ZE_RESULT_NOT_READY && for_ever);
  if (result == ZE_RESULT_NOT_READY) return false;
  end_flight();
  const ze_result_t reset = loader_.zeFenceReset(fence_.get());
  if (result != ZE_RESULT_SUCCESS) [[unlikely]]
    fail(result, "zeFenceHostSynchronize");
  ze::check(reset, "zeFenceReset");
  return true;
}

void RequestState::end_flight() {
  in_flight_ = false;
  model_->in_flight.fetch_sub(1, std::memory_order_relaxed);
}

void RequestState::fail(ze_result_t result, const char* call) {
  // Drivers report a context that a memory fault has poisoned as UNKNOWN.
  const bool lost =
      result == ZE_RESULT_ERROR_UNKNOWN || ze::error_code(result) == ErrorCode::kDeviceLost;
  if (lost) model_->device->lost = true;
  throw ze::make_error(
      lost ? ErrorCode::kDeviceLost : ze::error_code(result), result, call,
      text("running ", base::quoted(model_->name), " on ", model_->device->info.name,
           lost ? "; open the device and load the model again if this stays" : ""));
}

}  // namespace npu::internal
