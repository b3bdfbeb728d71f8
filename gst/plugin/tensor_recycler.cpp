#include "plugin/tensor_recycler.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kMaxIdle = 16;  // more than any usual pool; after a change of size it drains

}  // namespace

std::shared_ptr<const npu::Tensor> TensorRecycler::take(std::size_t size_bytes) {
  const std::size_t pages = std::max<std::size_t>((size_bytes + kPageBytes - 1) / kPageBytes, 1);
  npu::Tensor tensor = take_idle(pages * kPageBytes);
  if (!tensor) tensor = make(pages * kPageBytes);
  auto owned = std::make_unique<npu::Tensor>(std::move(tensor));
  return {owned.release(), [self = shared_from_this()](npu::Tensor* returned) {
            const std::unique_ptr<npu::Tensor> holder(returned);
            self->give_back(std::move(*holder));
          }};
}

npu::Tensor TensorRecycler::make(std::size_t rounded_bytes) const {
  return sharing_ == Sharing::kShareable
             ? npu::Tensor::allocate_shareable(device_, rounded_bytes, use_)
             : npu::Tensor::allocate(device_, rounded_bytes, use_);
}

npu::Tensor TensorRecycler::take_idle(std::size_t rounded_bytes) {
  const std::lock_guard lock(mutex_);
  // After a lost device the NPU would only reach the old ones by copies.
  std::erase_if(idle_, [](const npu::Tensor& tensor) { return !tensor.is_reachable(); });
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const npu::Tensor& tensor) {
    return tensor.size_bytes() == rounded_bytes;
  });
  if (found == idle_.rend()) return {};
  npu::Tensor tensor = std::move(*found);
  idle_.erase(std::next(found).base());
  return tensor;
}

void TensorRecycler::give_back(npu::Tensor tensor) {
  npu::Tensor oldest;  // freed outside the lock
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(tensor));
  if (idle_.size() <= kMaxIdle) return;
  oldest = std::move(idle_.front());
  idle_.erase(idle_.begin());
}

}  // namespace gstnpu
