#include "binding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "memory/buffers.hpp"

namespace npu::internal {
namespace {

using base::text;

ze::Memory::CpuCaching caching_of(Binding::Direction direction) {
  return direction == Binding::Direction::kInput ? ze::Memory::CpuCaching::kWriteCombined
                                                 : ze::Memory::CpuCaching::kCached;
}

}  // namespace

ze::KeepAlive keep_alive(const Tensor& tensor) {
  return {allocation_of(tensor), &allocation_of(tensor)->forgotten};
}

void Binding::check(const Tensor& tensor, std::size_t needed_bytes,
                    const std::shared_ptr<Device::Impl>& device) const {
  if (!tensor || tensor.size_bytes() < needed_bytes) {
    throw Error(
        ErrorCode::kInvalidArgument,
        text("the tensor for ", base::quoted(port_.name), " has ", tensor.size_bytes(), " bytes, ",
             to_string(port_.type), to_string(port_.shape), " needs ", needed_bytes));
  }
  if (allocation_of(tensor)->place.device != device) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the tensor for ", base::quoted(port_.name),
                     " was made on a different device than the model"));
  }
  if (direction_ == Direction::kOutput && tensor.is_read_only()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        text("the tensor for the output ", base::quoted(port_.name), " is in read-only memory"));
  }
}

void Binding::bind(const Tensor& tensor, std::optional<ze::ElementStrides> strides,
                   const Place& place) {
  tensor_ = tensor;
  host_ = {nullptr, 0};
  value_.strides = strides;
  copied_ = false;
  if (allocation_of(tensor)->place == place) {
    reach(tensor, tensor.data());
  } else {
    move_to(place);
  }
  if (value_.address == tensor.data()) {
    stand_in_ = Tensor();
  }
}

void Binding::bind(HostMemory memory, const Place& place) {
  if (!memory.data || memory.size_bytes < bytes_) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the host memory for ", base::quoted(port_.name), " has ", memory.size_bytes,
                     " bytes, ", to_string(port_.type), to_string(port_.shape), " needs ", bytes_));
  }
  host_ = memory;
  value_.strides = std::nullopt;
  tensor_ = Tensor();
  if (!import_host(place)) {
    use_stand_in(place);
  }
}

bool Binding::import_host(const Place& place) {
  std::string why_not;
  auto* data = static_cast<std::byte*>(host_.data);
  auto imported = buffers_of(place.device)
                      .imports.import_host(place, {data, host_.size_bytes},
                                           direction_ == Direction::kInput, why_not);
  if (!imported) {
    if (!std::exchange(told_, true)) {
      base::log(LogLevel::kInfo,
                text("every inference copies ", base::quoted(port_.name), ": ", why_not));
    }
    return false;
  }
  const auto offset = static_cast<std::size_t>(data - imported->base());
  tensor_ = make_tensor(std::move(imported), offset, host_.size_bytes);
  reach(tensor_, data);
  copied_ = false;
  return true;
}

void Binding::allocate(const Place& place) {
  auto memory =
      buffers_of(place.device)
          .imports.allocate(place, std::max<std::size_t>(bytes_, 1), caching_of(direction_));
  tensor_ = whole_tensor(std::move(memory));
  reach(tensor_, tensor_.data());
  copied_ = false;
}

void Binding::move_to(const Place& place) {
  if (!is_bound()) return;
  const auto reached = tensor_ ? reach_from(allocation_of(tensor_), place) : nullptr;
  if (!reached) return use_stand_in(place);
  const auto offset = static_cast<std::size_t>(tensor_.data() - allocation_of(tensor_)->base());
  stand_in_ = make_tensor(reached, offset, tensor_.size_bytes());
  reach(stand_in_, stand_in_.data());
  copied_ = false;
}

void Binding::use_stand_in(const Place& place) {
  const std::size_t bytes =
      value_.strides ? tensor_.size_bytes() : std::max<std::size_t>(bytes_, 1);
  const bool fits = stand_in_ && stand_in_.size_bytes() == bytes &&
                    allocation_of(stand_in_)->place == place &&
                    allocation_of(stand_in_)->origin == Allocation::Origin::kDriver;
  if (!fits) {
    stand_in_ = whole_tensor(
        buffers_of(place.device).imports.allocate(place, bytes, caching_of(direction_)));
  }
  reach(stand_in_, stand_in_.data());
  copied_ = true;
}

void Binding::reach(const Tensor& tensor, const std::byte* address) {
  value_.address = address;
  value_.memory = keep_alive(tensor);
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
