// RequestState: the model's variables, and what was measured.
#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "core/device_state.hpp"
#include "core/request_state.hpp"
#include "core/tensor_maker.hpp"
#include "npucore/error.hpp"
#include "ze/device_queries.hpp"

namespace npu::internal {
namespace {

using base::text;

void write_initial(const Variable& variable, const Tensor& memory) {
  if (variable.initial.empty())
    std::memset(memory.data(), 0, variable.size_bytes);
  else
    std::copy(variable.initial.begin(), variable.initial.end(), memory.data());
}

LayerStatus status_of(ze_layer_status_t status) {
  switch (status) {
    case ZE_LAYER_STATUS_EXECUTED:
      return LayerStatus::kExecuted;
    case ZE_LAYER_STATUS_OPTIMIZED_OUT:
      return LayerStatus::kOptimizedOut;
    default:
      return LayerStatus::kNotRun;
  }
}

template <std::size_t N>
std::string bounded_string(const char (&text)[N]) {
  return std::string(text, ::strnlen(text, N));
}

LayerProfile to_profile(const ze_profiling_layer_info& layer, std::uint64_t begin_ns) {
  return {.name = bounded_string(layer.name),
          .type = bounded_string(layer.layer_type),
          .status = status_of(layer.status),
          .start_ns = layer.start_time_ns < begin_ns ? 0 : layer.start_time_ns - begin_ns,
          .duration_ns = layer.duration_ns,
          .dpu_ns = layer.dpu_ns,
          .software_ns = layer.sw_ns,
          .dma_ns = layer.dma_ns};
}

/// First and last moment of what ran; both 0 where nothing did.
std::pair<std::uint64_t, std::uint64_t> span_of(
    const std::vector<ze_profiling_layer_info>& layers) {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  for (const auto& layer : layers) {
    if (layer.status != ZE_LAYER_STATUS_EXECUTED) continue;
    begin = std::min(begin, layer.start_time_ns);
    end = std::max(end, layer.start_time_ns + layer.duration_ns);
  }
  return {std::min(begin, end), end};
}

}  // namespace

std::vector<State> RequestState::states() {
  std::vector<State> states;
  for (std::size_t index = 0; index < states_.size(); ++index) states.push_back({*this, index});
  return states;
}

Tensor RequestState::new_state_memory(std::size_t index) {
  const Variable& variable = this->variable(index);
  Tensor memory = TensorMaker::make(internal::allocate(
      model_->device, engine_->session->context, std::max<std::size_t>(variable.size_bytes, 1),
      ze::Memory::CpuCaching::kCached));
  write_initial(variable, memory);
  return memory;
}

void RequestState::bind_state(std::size_t index, Tensor memory) {
  states_[index] = std::move(memory);
  for (const std::uint32_t argument : variable(index).arguments)
    values_[argument] = {states_[index].data(), 0, std::nullopt, states_[index].allocation()};
  prepared_ = false;
}

const Tensor& RequestState::state_memory(std::size_t index) {
  engine();
  if (!states_[index]) bind_state(index, new_state_memory(index));
  return states_[index];
}

void RequestState::set_state(std::size_t index, std::span<const std::byte> bytes) {
  require_idle("a state cannot be set");
  const Variable& variable = this->variable(index);
  if (bytes.size() != variable.size_bytes)
    throw Error(ErrorCode::kInvalidArgument,
                text("the state ", base::quoted(variable.port.name), " has ", variable.size_bytes,
                     " bytes (", to_string(variable.port.type), to_string(variable.port.shape),
                     "), not ", bytes.size()));
  std::copy(bytes.begin(), bytes.end(), state_memory(index).data());
}

void RequestState::set_state(std::size_t index, const Tensor& tensor) {
  require_idle("a state cannot be set");
  const Variable& variable = this->variable(index);
  if (!tensor || tensor.size_bytes() < variable.size_bytes || tensor.is_read_only())
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for the state ", base::quoted(variable.port.name), " has ",
                     tensor.size_bytes(), tensor.is_read_only() ? " read-only" : "", " bytes, ",
                     variable.size_bytes, " writable ones are needed"));
  if (tensor.allocation()->device != model_->device ||
      tensor.allocation()->context != engine().session->context)
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for the state ", base::quoted(variable.port.name),
                     " was made on another device, or before the device was lost"));
  bind_state(index, tensor);
}

void RequestState::reset_state(std::size_t index) {
  require_idle("a state cannot be reset");
  write_initial(variable(index), state_memory(index));
}

std::vector<LayerProfile> RequestState::profile() const {
  const auto& layers = engine_->measurement.layers;
  if (!layers)
    throw Error(ErrorCode::kUnsupported,
                text(base::quoted(model_->name),
                     " was not compiled for profiling by layers: set "
                     "PERF_COUNT to YES, and NPU_PROFILING_TYPE to MODEL"));
  require_idle("profiling data cannot be read");
  if (!measured_) return {};
  const auto measured = ze::profiled_layers(*engine_->session->context, layers->queries.front());
  const std::uint64_t begin_ns = span_of(measured).first;
  std::vector<LayerProfile> profile;
  profile.reserve(measured.size());
  for (const auto& layer : measured) profile.push_back(to_profile(layer, begin_ns));
  return profile;
}

std::uint64_t RequestState::inference_time_ns() const {
  require_idle("profiling data cannot be read");
  const ze::DeviceContext& device = *engine_->session->context;
  if (const auto& layers = engine_->measurement.layers) {
    std::uint64_t all_ns = 0;
    for (const auto& query : layers->queries) {
      if (!measured_) break;
      const auto [begin, end] = span_of(ze::profiled_layers(device, query));
      all_ns += end - begin;
    }
    return all_ns;
  }
  const auto* stamps = static_cast<const std::byte*>(engine_->measurement.timestamps.address());
  if (!stamps)
    throw Error(
        ErrorCode::kUnsupported,
        text(base::quoted(model_->name), " was not compiled for profiling: set PERF_COUNT to YES"));
  if (!measured_) return 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::memcpy(&begin, stamps, sizeof(begin));
  std::memcpy(
      &end, stamps + (batch_ - 1) * Measurement::kTimestampBytes + Measurement::kTimestampBytes / 2,
      sizeof(end));
  return ze::timer_ns(device, end - begin);
}

}  // namespace npu::internal

namespace npu {

const std::string& State::name() const {
  return request_->variable(index_).port.name;
}
ElementType State::type() const {
  return request_->variable(index_).port.type;
}
const Shape& State::shape() const {
  return request_->variable(index_).port.shape;
}
std::size_t State::size_bytes() const {
  return request_->variable(index_).size_bytes;
}
Tensor State::get() const {
  return request_->state_memory(index_);
}
void State::set(std::span<const std::byte> bytes) {
  request_->set_state(index_, bytes);
}
void State::set(const Tensor& tensor) {
  request_->set_state(index_, tensor);
}
void State::reset() {
  request_->reset_state(index_);
}

}  // namespace npu
