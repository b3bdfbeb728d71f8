#include "tensor_recycler.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kMaxIdle = 16;  // more than a usual pool; drains after a change of size

}  // namespace

DeviceMemoryRef::DeviceMemoryRef(DeviceMemory* memory) : memory_(memory) {
  if (memory_) {
    memory_->references_.fetch_add(1, std::memory_order_relaxed);
  }
}

/// The last memory may hold the last reference to the recycler.
DeviceMemoryRef::~DeviceMemoryRef() {
  if (!memory_ || memory_->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::shared_ptr<TensorRecycler> recycler = std::move(memory_->recycler_);
  recycler->give_back(TensorRecycler::Owned(memory_));
}

void DeviceMemoryRef::end(gpointer released) {
  DeviceMemoryRef last;
  last.memory_ = static_cast<DeviceMemory*>(released);
}

DeviceMemoryRef TensorRecycler::take(std::size_t size_bytes) {
  const std::size_t pages = std::max<std::size_t>((size_bytes + kPageBytes - 1) / kPageBytes, 1);
  Owned memory = take_idle(pages * kPageBytes);
  if (!memory) {
    memory = make(pages * kPageBytes);
  }
  memory->recycler_ = shared_from_this();
  return DeviceMemoryRef(memory.release());
}

TensorRecycler::Owned TensorRecycler::make(std::size_t rounded_bytes) const {
  return std::make_unique<DeviceMemory>(
      sharing_ == Sharing::kShareable
          ? npu::Tensor::allocate_shareable(device_, rounded_bytes, use_)
          : npu::Tensor::allocate(device_, rounded_bytes, use_));
}

/// After a lost device the NPU reaches old memory only by copies, so all of it is dropped, whatever
/// its size, before new memory is made. A steady stream checks only the memory that it takes.
TensorRecycler::Owned TensorRecycler::take_idle(std::size_t rounded_bytes) {
  std::vector<Owned> unreachable;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Owned& memory) {
    return memory->tensor.size_bytes() == rounded_bytes;
  });
  if (found != idle_.rend() && (*found)->tensor.is_reachable()) {
    Owned memory = std::move(*found);
    idle_.erase(std::next(found).base());
    return memory;
  }
  const auto kept = std::stable_partition(idle_.begin(), idle_.end(), [](const Owned& memory) {
    return memory->tensor.is_reachable();
  });
  unreachable.assign(std::move_iterator(kept), std::move_iterator(idle_.end()));
  idle_.erase(kept, idle_.end());
  return nullptr;
}

void TensorRecycler::give_back(Owned memory) {
  Owned oldest;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(memory));
  if (idle_.size() <= kMaxIdle) return;
  oldest = std::move(idle_.front());
  idle_.erase(idle_.begin());
}

}  // namespace gstnpu
