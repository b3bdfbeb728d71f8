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

/// Keeps the tensor's memory, and tells when its owner has let go of it.
ze::KeepAlive keep_alive(const Tensor& tensor);

/// What one input or output of a request is bound to, and how the device reaches it.
class Binding {
 public:
  enum class Direction { kInput, kOutput };

  /// `bytes` is what the whole batch needs.
  Binding(const Port& port, std::uint32_t argument, Direction direction, std::size_t bytes,
          std::size_t item_bytes)
      : port_(port),
        argument_(argument),
        direction_(direction),
        bytes_(bytes),
        value_{nullptr, item_bytes, std::nullopt} {}

  bool is_bound() const { return static_cast<bool>(tensor_) || host_.data; }
  bool holds(const Tensor& tensor) const {
    return tensor_ && !value_.strides && !host_.data && tensor_.data() == tensor.data() &&
           tensor.size_bytes() >= bytes_ && allocation_of(tensor_) == allocation_of(tensor);
  }
  bool holds(HostMemory memory) const {
    return host_.data && !value_.strides && host_.data == memory.data &&
           host_.size_bytes == memory.size_bytes;
  }

  /// Throws Error(kInvalidArgument) for a tensor that is too small, of another device, or, for an
  /// output, read-only.
  void check(const Tensor& tensor, std::size_t needed_bytes,
             const std::shared_ptr<Device::Impl>& device) const;
  /// A tensor that check() takes.
  void bind(const Tensor& tensor, std::optional<ze::ElementStrides> strides, const Place& place);
  /// In place where it can be imported, else by a copy in driver memory.
  void bind(HostMemory memory, const Place& place);
  void allocate(const Place& place);
  /// After the context was lost: finds out how the device reaches the memory from this one.
  void move_to(const Place& place);

  /// For the CPU.
  Tensor tensor() const { return host_.data && !tensor_ ? stand_in_ : tensor_; }
  const Port& port() const { return port_; }
  std::uint32_t argument() const { return argument_; }
  std::size_t bytes() const { return bytes_; }
  const ze::ArgumentValue& value() const { return value_; }
  /// The descriptor of a buffer that other devices know too, imported or exported; -1 for other
  /// memory.
  int dmabuf_fd() const;

  bool is_copied() const { return copied_; }
  /// From the application's memory into the device's, and back.
  void copy_in() const;
  void copy_out() const;

 private:
  void use_stand_in(const Place& place);
  bool import_host(const Place& place);
  /// The device uses `address`, which is in `tensor`.
  void reach(const Tensor& tensor, const std::byte* address);
  std::byte* cpu_address() const;

  const Port& port_;
  std::uint32_t argument_;
  Direction direction_;
  std::size_t bytes_;
  ze::ArgumentValue value_;
  Tensor tensor_;
  HostMemory host_{nullptr, 0};
  Tensor stand_in_;      ///< what the device uses in the place of tensor_ or host_
  bool copied_ = false;  ///< between stand_in_ and the other
  bool told_ = false;    ///< why
};

}  // namespace npu::internal
