#include "core/binding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "core/device_state.hpp"
#include "core/tensor_maker.hpp"
#include "npucore/error.hpp"

namespace npu::internal {
namespace {

using base::text;

ze::Memory::CpuCaching caching_of(Binding::Direction direction) {
  return direction == Binding::Direction::kInput ? ze::Memory::CpuCaching::kWriteCombined
                                                 : ze::Memory::CpuCaching::kCached;
}

}  // namespace

void Binding::bind(const Tensor& tensor, std::optional<ElementStrides> strides,
                   std::size_t needed_bytes, const std::shared_ptr<DeviceState>& device,
                   const std::shared_ptr<const ze::DeviceContext>& context) {
  if (!tensor || tensor.size_bytes() < needed_bytes)
    throw Error(
        ErrorCode::kInvalidArgument,
        text("the tensor for ", base::quoted(port_.name), " has ", tensor.size_bytes(), " bytes, ",
             to_string(port_.type), to_string(port_.shape), " needs ", needed_bytes));
  if (tensor.allocation()->device != device)
    throw Error(ErrorCode::kInvalidArgument, text("the tensor for ", base::quoted(port_.name),
                                                  " was made on another device than the model"));
  if (direction_ == Direction::kOutput && tensor.is_read_only())
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for the output ", base::quoted(port_.name),
                     " is in memory that may only be read"));
  tensor_ = tensor;
  host_ = {nullptr, 0};
  value_.strides = strides;
  copied_ = false;
  if (tensor.allocation()->context == context)
    reach(tensor, tensor.data());
  else
    move_to(device, context);
  if (value_.address == tensor.data()) stand_in_ = Tensor();
}

void Binding::bind(HostMemory memory, const std::shared_ptr<DeviceState>& device,
                   const std::shared_ptr<const ze::DeviceContext>& context) {
  if (!memory.data || memory.size_bytes < bytes_)
    throw Error(ErrorCode::kInvalidArgument,
                text("the host memory for ", base::quoted(port_.name), " has ", memory.size_bytes,
                     " bytes, ", to_string(port_.type), to_string(port_.shape), " needs ", bytes_));
  host_ = memory;
  value_.strides = std::nullopt;
  tensor_ = Tensor();
  if (!import_host(device, context)) use_stand_in(device, context);
}

bool Binding::import_host(const std::shared_ptr<DeviceState>& device,
                          const std::shared_ptr<const ze::DeviceContext>& context) {
  std::string why_not;
  auto* data = static_cast<std::byte*>(host_.data);
  auto imported = device->imports.import_host(device, context, {data, host_.size_bytes},
                                              direction_ == Direction::kInput, why_not);
  if (!imported) {
    if (!std::exchange(told_, true))
      base::log(LogLevel::kInfo,
                text("every inference copies ", base::quoted(port_.name), ": ", why_not));
    return false;
  }
  const auto offset = static_cast<std::size_t>(data - imported->base());
  tensor_ = TensorMaker::make(std::move(imported), offset, host_.size_bytes);
  reach(tensor_, data);
  copied_ = false;
  return true;
}

void Binding::allocate(const std::shared_ptr<DeviceState>& device,
                       const std::shared_ptr<const ze::DeviceContext>& context) {
  auto memory =
      internal::allocate(device, context, std::max<std::size_t>(bytes_, 1), caching_of(direction_));
  tensor_ = TensorMaker::make(std::move(memory));
  reach(tensor_, tensor_.data());
  copied_ = false;
}

void Binding::move_to(const std::shared_ptr<DeviceState>& device,
                      const std::shared_ptr<const ze::DeviceContext>& context) {
  if (!is_bound()) return;
  const auto reached = tensor_ ? reach_from(tensor_.allocation(), context) : nullptr;
  if (!reached) return use_stand_in(device, context);
  const auto offset = static_cast<std::size_t>(tensor_.data() - tensor_.allocation()->base());
  stand_in_ = TensorMaker::make(reached, offset, tensor_.size_bytes());
  reach(stand_in_, stand_in_.data());
  copied_ = false;
}

void Binding::use_stand_in(const std::shared_ptr<DeviceState>& device,
                           const std::shared_ptr<const ze::DeviceContext>& context) {
  const std::size_t bytes =
      value_.strides ? tensor_.size_bytes() : std::max<std::size_t>(bytes_, 1);
  const bool fits = stand_in_ && stand_in_.size_bytes() == bytes &&
                    stand_in_.allocation()->context == context &&
                    stand_in_.allocation()->origin == Allocation::Origin::kDriver;
  if (!fits)
    stand_in_ =
        TensorMaker::make(internal::allocate(device, context, bytes, caching_of(direction_)));
  reach(stand_in_, stand_in_.data());
  copied_ = true;
}

void Binding::reach(const Tensor& tensor, const std::byte* address) {
  value_.address = address;
  value_.memory = tensor.allocation();
}

std::byte* Binding::cpu_address() const {
  return tensor_ ? tensor_.data() : static_cast<std::byte*>(host_.data);
}

void Binding::copy_in() const {
  const CpuAccess access(tensor_, CpuAccess::Kind::kRead);
  std::memcpy(stand_in_.data(), cpu_address(), stand_in_.size_bytes());
}

void Binding::copy_out() const {
  const CpuAccess access(tensor_, CpuAccess::Kind::kWrite);
  std::memcpy(cpu_address(), stand_in_.data(), stand_in_.size_bytes());
}

int Binding::dmabuf_fd() const {
  return tensor_.dmabuf_fd();
}

}  // namespace npu::internal
