#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <npucore/tensor.hpp>
#include <vector>

namespace gstnpu {

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
  std::shared_ptr<const npu::Tensor> take(std::size_t size_bytes);
  const npu::Device& device() const { return device_; }

 private:
  npu::Tensor make(std::size_t rounded_bytes) const;
  npu::Tensor take_idle(std::size_t rounded_bytes);
  void give_back(npu::Tensor tensor);

  const npu::Device device_;
  const npu::MemoryUse use_;
  const Sharing sharing_;
  std::mutex mutex_;               // guards idle_
  std::vector<npu::Tensor> idle_;  // oldest first
};

}  // namespace gstnpu
