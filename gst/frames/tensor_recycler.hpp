#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <npucore/tensor.hpp>

namespace gstnpu {

/// A tensor, and its memory for the CPU.
struct DeviceMemory {
  explicit DeviceMemory(npu::Tensor made) : tensor(std::move(made)), data(tensor.data()) {}
  const npu::Tensor tensor;
  std::byte* const data;
};
using DeviceMemoryRef = std::shared_ptr<const DeviceMemory>;

/// Device memory that frames take and give back: no driver call in a steady stream. From any
/// thread. Tensors that are out keep it alive.
class TensorRecycler : public std::enable_shared_from_this<TensorRecycler> {
 public:
  enum class Sharing {
    kPrivate,
    kShareable,  ///< DMA-BUFs where the machine makes them
  };
  TensorRecycler(npu::Device device, npu::MemoryUse use, Sharing sharing = Sharing::kPrivate)
      : device_(std::move(device)), use_(use), sharing_(sharing) {}

  /// At least `size_bytes`, rounded up to whole pages. Comes back with the last reference.
  DeviceMemoryRef take(std::size_t size_bytes);
  const npu::Device& device() const { return device_; }

 private:
  using Owned = std::unique_ptr<const DeviceMemory>;

  Owned make(std::size_t rounded_bytes) const;
  Owned take_idle(std::size_t rounded_bytes);
  void give_back(Owned memory);

  const npu::Device device_;
  const npu::MemoryUse use_;
  const Sharing sharing_;
  std::mutex mutex_;         // guards idle_
  std::vector<Owned> idle_;  // oldest first
};

}  // namespace gstnpu
