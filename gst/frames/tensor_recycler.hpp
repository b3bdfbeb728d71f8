#pragma once

#include <glib.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <npucore/tensor.hpp>

namespace gstnpu {

class TensorRecycler;

/// A tensor and its mapping for the CPU.
struct DeviceMemory {
  explicit DeviceMemory(npu::Tensor made) : tensor(std::move(made)), data(tensor.data()) {}
  const npu::Tensor tensor;
  std::byte* const data;

 private:
  friend class DeviceMemoryRef;
  friend class TensorRecycler;
  std::atomic<std::size_t> references_{0};
  std::shared_ptr<TensorRecycler> recycler_;  // while it is in use
};

/// A shared reference to memory that goes back to its recycler with the last reference. The count
/// is in the memory itself, so that a frame's outputs need no heap allocation.
class DeviceMemoryRef {
 public:
  DeviceMemoryRef() = default;
  explicit DeviceMemoryRef(DeviceMemory* memory);
  DeviceMemoryRef(const DeviceMemoryRef& other) : DeviceMemoryRef(other.memory_) {}
  DeviceMemoryRef(DeviceMemoryRef&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceMemoryRef& operator=(DeviceMemoryRef other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~DeviceMemoryRef();

  const DeviceMemory* get() const { return memory_; }
  const DeviceMemory* operator->() const { return memory_; }
  const DeviceMemory& operator*() const { return *memory_; }
  explicit operator bool() const { return memory_ != nullptr; }

  /// Hands the reference to C code, which drops it with end().
  gpointer release() { return std::exchange(memory_, nullptr); }
  static void end(gpointer released);

 private:
  DeviceMemory* memory_ = nullptr;
};

/// Keeps device memory for reuse, so that a steady stream makes no driver calls. Thread-safe.
/// Tensors in use keep it alive.
class TensorRecycler : public std::enable_shared_from_this<TensorRecycler> {
 public:
  enum class Sharing {
    kPrivate,
    kShareable,  ///< DMA-BUFs where the machine makes them
  };
  TensorRecycler(npu::Device device, npu::MemoryUse use, Sharing sharing = Sharing::kPrivate)
      : device_(std::move(device)), use_(use), sharing_(sharing) {}

  /// Returns at least `size_bytes`, rounded up to whole pages. It comes back with its last
  /// reference.
  DeviceMemoryRef take(std::size_t size_bytes);
  const npu::Device& device() const { return device_; }

 private:
  friend class DeviceMemoryRef;
  using Owned = std::unique_ptr<DeviceMemory>;

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
