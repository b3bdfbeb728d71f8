// The part of Request::Impl that handles variables and measurements.
#include <algorithm>
#include <cstring>

#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/log.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "device/device_impl.hpp"
#include "memory/buffers.hpp"
#include "memory/tensors.hpp"

#include "request_impl.hpp"

namespace npu {
namespace {

using base::text;
using internal::Variable;

void write_initial(const Variable& variable, const Tensor& memory) {
  const CpuAccess access(memory, CpuAccess::Kind::kWrite);
  if (variable.initial.empty()) {
    std::memset(memory.data(), 0, variable.size_bytes);
  } else {
    std::copy(variable.initial.begin(), variable.initial.end(), memory.data());
  }
}

template <class Work>
auto with(const Work& work) {
  const base::LogsAfterwards logs;  // a sink may use the same request
  return base::only_errors(work);
}

}  // namespace

std::vector<State> Request::Impl::states() {
  std::vector<State> states;
  for (std::size_t index = 0; index < states_.size(); ++index)
    states.push_back(internal::Pimpl::make<State>(*this, index));
  return states;
}

Tensor Request::Impl::new_state_memory(std::size_t index) {
  const Variable& variable = this->variable(index);
  Tensor memory = internal::whole_tensor(
      internal::buffers_of(model_->device)
          .imports.allocate(engine_->session->place, std::max<std::size_t>(variable.size_bytes, 1),
                            ze::Memory::CpuCaching::kCached));
  write_initial(variable, memory);
  return memory;
}

void Request::Impl::bind_state(std::size_t index, Tensor memory) {
  states_[index] = std::move(memory);
  for (const std::uint32_t argument : variable(index).arguments) {
    values_[argument] = {states_[index].data(), 0, std::nullopt};
  }
  prepared_ = false;
  recording_ = nullptr;
}

const Tensor& Request::Impl::state_memory(std::size_t index) {
  engine();
  if (!states_[index]) {
    bind_state(index, new_state_memory(index));
  }
  return states_[index];
}

void Request::Impl::set_state(std::size_t index, std::span<const std::byte> bytes) {
  require_idle("a state cannot be set");
  const Variable& variable = this->variable(index);
  if (bytes.size() != variable.size_bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the state ", base::quoted(variable.port.name), " has ", variable.size_bytes,
                     " bytes (", to_string(variable.port.type), to_string(variable.port.shape),
                     "), not ", bytes.size()));
  }
  const CpuAccess access(state_memory(index), CpuAccess::Kind::kWrite);
  std::copy(bytes.begin(), bytes.end(), access.data());
}

void Request::Impl::set_state(std::size_t index, const Tensor& tensor) {
  require_idle("a state cannot be set");
  const Variable& variable = this->variable(index);
  if (!tensor || tensor.size_bytes() < variable.size_bytes || tensor.is_read_only()) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for the state ", base::quoted(variable.port.name), " has ",
                     tensor.size_bytes(), tensor.is_read_only() ? " read-only" : "", " bytes, ",
                     variable.size_bytes, " writable ones are needed"));
  }
  if (internal::allocation_of(tensor)->place != engine().session->place) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for the state ", base::quoted(variable.port.name),
                     " was made on another device, or before the device was lost"));
  }
  bind_state(index, tensor);
}

void Request::Impl::reset_state(std::size_t index) {
  require_idle("a state cannot be reset");
  write_initial(variable(index), state_memory(index));
}

std::vector<LayerProfile> Request::Impl::profile() const {
  if (!engine_->measurement.has_layers()) {
    throw Error(ErrorCode::kUnsupported,
                text(base::quoted(model_->name),
                     " was not compiled for profiling by layers: set "
                     "PERF_COUNT to YES, and NPU_PROFILING_TYPE to MODEL"));
  }
  require_idle("profiling data cannot be read");
  if (!measured_) return {};
  return engine_->measurement.layers();
}

std::uint64_t Request::Impl::inference_time_ns() const {
  require_idle("profiling data cannot be read");
  const ze::Measurement& measurement = engine_->measurement;
  if (!measurement.has_layers() && !measurement.has_stamps()) {
    throw Error(
        ErrorCode::kUnsupported,
        text(base::quoted(model_->name), " was not compiled for profiling: set PERF_COUNT to YES"));
  }
  return measured_ ? measurement.elapsed_ns() : 0;
}

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
  return with([&] {
    const Tensor& memory = request_->state_memory(index_);
    return internal::typed_tensor(memory, size_bytes(), type(), true);
  });
}
void State::set(std::span<const std::byte> bytes) {
  with([&] { request_->set_state(index_, bytes); });
}
void State::set(const Tensor& tensor) {
  with([&] { request_->set_state(index_, tensor); });
}
void State::reset() {
  with([&] { request_->reset_state(index_); });
}

}  // namespace npu
