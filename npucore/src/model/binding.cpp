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

Binding::Bound Binding::bound_to(const Tensor& tensor, std::optional<ze::ElementStrides> strides,
                                 const Place& place) const {
  return reached_from({.tensor = tensor, .strides = strides, .stand_in = bound_.stand_in}, place);
}

void Binding::bind(HostMemory memory, const Place& place) {
  if (!memory.data || memory.size_bytes < bytes_) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the host memory for ", base::quoted(port_.name), " has ", memory.size_bytes,
                     " bytes, ", to_string(port_.type), to_string(port_.shape), " needs ", bytes_));
  }
  if (Tensor imported = import_host(memory, place)) {
    const std::byte* address = imported.data();
    bound_ = {.tensor = std::move(imported), .host = memory, .address = address};
  } else {
    bound_ = with_stand_in({.host = memory, .stand_in = bound_.stand_in}, place);
  }
}

/// Empty if it cannot be imported.
Tensor Binding::import_host(HostMemory memory, const Place& place) {
  std::string why_not;
  auto* data = static_cast<std::byte*>(memory.data);
  auto imported = buffers_of(place.device)
                      .imports.import_host(place, {data, memory.size_bytes},
                                           direction_ == Direction::kInput, why_not);
  if (imported) {
    const auto offset = static_cast<std::size_t>(data - imported->base());
    return make_tensor(std::move(imported), offset, memory.size_bytes);
  }
  if (!std::exchange(told_, true)) {
    base::log(LogLevel::kInfo,
              text("every inference copies ", base::quoted(port_.name), ": ", why_not));
  }
  return {};
}

void Binding::allocate(const Place& place) {
  Tensor made = whole_tensor(
      buffers_of(place.device)
          .imports.allocate(place, std::max<std::size_t>(bytes_, 1), caching_of(direction_)));
  const std::byte* address = made.data();
  bound_ = {.tensor = std::move(made), .address = address};
}

void Binding::move_to(const Place& place) {
  if (is_bound()) {
    bound_ = reached_from(bound_, place);
  }
}

/// In place if the device can reach the tensor's memory from there, else with a stand-in.
Binding::Bound Binding::reached_from(Bound bound, const Place& place) const {
  const auto reached = bound.tensor ? reach_from(allocation_of(bound.tensor), place) : nullptr;
  if (!reached) return with_stand_in(std::move(bound), place);
  bound.copied = false;
  if (reached == allocation_of(bound.tensor)) {
    bound.stand_in = Tensor();
    bound.address = bound.tensor.data();
    return bound;
  }
  const auto offset =
      static_cast<std::size_t>(bound.tensor.data() - allocation_of(bound.tensor)->base());
  bound.stand_in = make_tensor(reached, offset, bound.tensor.size_bytes());
  bound.address = bound.stand_in.data();
  return bound;
}

/// Uses the present stand-in if it fits, else a new one.
Binding::Bound Binding::with_stand_in(Bound bound, const Place& place) const {
  const std::size_t bytes =
      bound.strides ? bound.tensor.size_bytes() : std::max<std::size_t>(bytes_, 1);
  const bool fits = bound.stand_in && bound.stand_in.size_bytes() == bytes &&
                    allocation_of(bound.stand_in)->place == place &&
                    allocation_of(bound.stand_in)->origin == Allocation::Origin::kDriver;
  if (!fits) {
    bound.stand_in = whole_tensor(
        buffers_of(place.device).imports.allocate(place, bytes, caching_of(direction_)));
  }
  bound.address = bound.stand_in.data();
  bound.copied = true;
  return bound;
}

std::byte* Binding::cpu_address() const {
  return bound_.tensor ? bound_.tensor.data() : static_cast<std::byte*>(bound_.host.data);
}

void Binding::copy_in() const {
  const CpuAccess access(bound_.tensor, CpuAccess::Kind::kRead);
  std::memcpy(bound_.stand_in.data(), cpu_address(), bound_.stand_in.size_bytes());
}

void Binding::copy_out() const {
  const CpuAccess access(bound_.tensor, CpuAccess::Kind::kWrite);
  if (bound_.strides) {
    copy_strided(port_, *bound_.strides, bound_.stand_in.data(), cpu_address());
  } else {
    std::memcpy(cpu_address(), bound_.stand_in.data(), bound_.stand_in.size_bytes());
  }
}

}  // namespace npu::internal
