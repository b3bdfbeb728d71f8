#include "cancellation.hpp"

#include <utility>

#include "compile_turn.hpp"

namespace npu::internal {

void Cancellation::request() noexcept {
  requested_ = true;
  CompileTurn::wake_waiting();
  std::scoped_lock lock(mutex_);
  if (end_) {
    end_();
  }
}

Cancellation::Ends::Ends(Cancellation* cancellation, std::function<void()> end)
    : cancellation_(cancellation) {
  if (!cancellation_) return;
  std::scoped_lock lock(cancellation_->mutex_);
  cancellation_->end_ = std::move(end);
  if (cancellation_->requested()) {
    cancellation_->end_();
  }
}

Cancellation::Ends::~Ends() {
  if (!cancellation_) return;
  std::scoped_lock lock(cancellation_->mutex_);
  cancellation_->end_ = nullptr;
}

}  // namespace npu::internal
