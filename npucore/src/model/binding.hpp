#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <npucore/tensor.hpp>
#include <npucore/types.hpp>

#include "device/place.hpp"
#include "memory/tensors.hpp"

#include "strides.hpp"

namespace npu::internal {

/// The binding of one input or output of a request, and how the device reaches it. If binding
/// throws, the old binding stays.
class Binding {
 public:
  enum class Direction { kInput, kOutput };

  /// `bytes`: for the whole batch.
  Binding(const Port& port, std::uint32_t argument, Direction direction, std::size_t bytes,
          std::size_t item_bytes)
      : port_(port),
        argument_(argument),
        direction_(direction),
        bytes_(bytes),
        item_bytes_(item_bytes) {}

  /// The tensor or the application's memory, and the device's substitute for it.
  struct Bound {
    Tensor tensor = {};  ///< for host memory: its import; empty if it is copied
    HostMemory host = {nullptr, 0};
    std::optional<ze::ElementStrides> strides = std::nullopt;
    Tensor stand_in = {};                ///< used by the device instead
    bool copied = false;                 ///< between stand_in and the other memory
    const std::byte* address = nullptr;  ///< used by the device
  };

  bool is_bound() const { return bound_.tensor || bound_.host.data; }
  bool holds(const Tensor& tensor) const {
    return bound_.tensor && !bound_.strides && !bound_.host.data &&
           bound_.tensor.data() == tensor.data() && tensor.size_bytes() >= bytes_ &&
           bound_.tensor.is_read_only() == tensor.is_read_only() &&
           allocation_of(bound_.tensor) == allocation_of(tensor);
  }
  bool holds(HostMemory memory) const {
    return bound_.host.data && bound_.host.data == memory.data &&
           bound_.host.size_bytes == memory.size_bytes;
  }

  /// Throws Error(kInvalidArgument) for a tensor that is too small, belongs to another device, or,
  /// for an output, is read-only.
  void check(const Tensor& tensor, std::size_t needed_bytes,
             const std::shared_ptr<Device::Impl>& device) const;
  /// The binding that a tensor which passed check() would get.
  Bound bound_to(const Tensor& tensor, std::optional<ze::ElementStrides> strides,
                 const Place& place) const;
  void set(Bound bound) { bound_ = std::move(bound); }
  /// Binds in place if the memory can be imported, else by a copy in driver memory.
  void bind(HostMemory memory, const Place& place);
  void allocate(const Place& place);
  /// After the context was lost: finds out how the device reaches the memory from the new one.
  void move_to(const Place& place);

  /// The bound tensor; empty for memory that is copied.
  const Tensor& bound() const { return bound_.tensor; }
  /// The memory that the CPU uses, as far as the port's elements fill it; all if they have strides.
  Tensor elements() const {
    const Tensor& memory = bound_.tensor ? bound_.tensor : bound_.stand_in;
    const std::size_t size = bound_.strides ? memory.size_bytes() : bytes_;
    return typed_tensor(memory, size, port_.type, !bound_.strides);
  }
  const Port& port() const { return port_; }
  std::uint32_t argument() const { return argument_; }
  std::size_t bytes() const { return bytes_; }
  ze::ArgumentValue value() const { return {bound_.address, item_bytes_, bound_.strides}; }
  bool is_copied() const { return bound_.copied; }
  /// Copies from the application's memory into the device's, and back.
  void copy_in() const;
  void copy_out() const;

 private:
  Bound reached_from(Bound bound, const Place& place) const;
  Bound with_stand_in(Bound bound, const Place& place) const;
  Tensor import_host(HostMemory memory, const Place& place);
  std::byte* cpu_address() const;

  const Port& port_;
  std::uint32_t argument_;
  Direction direction_;
  std::size_t bytes_;
  std::size_t item_bytes_;
  Bound bound_;
  bool told_ = false;  ///< the reason for a copy was logged
};

}  // namespace npu::internal
