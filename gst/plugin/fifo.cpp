#include "plugin/fifo.hpp"

#include <utility>

namespace gstnpu {

void Fifo::set_max_frames(guint max_frames) {
  const std::lock_guard lock(mutex_);
  max_frames_ = max_frames;
  changed_.notify_all();
}

void Fifo::start() {
  const std::lock_guard lock(mutex_);
  flow_ = GST_FLOW_OK;
  changed_.notify_all();
}

void Fifo::stop(GstFlowReturn why) {
  const std::lock_guard lock(mutex_);
  if (flow_ == GST_FLOW_OK || why == GST_FLOW_FLUSHING) flow_ = why;
  changed_.notify_all();
}

GstFlowReturn Fifo::flow() const {
  const std::lock_guard lock(mutex_);
  return flow_;
}

GstFlowReturn Fifo::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flow_ != GST_FLOW_OK || frames_ < max_frames_; });
  return flow_;
}

GstFlowReturn Fifo::push(FifoItem item) {
  // `item` outlives the lock: dropping a frame may wait for the NPU.
  const std::lock_guard lock(mutex_);
  if (flow_ != GST_FLOW_OK) return flow_;
  if (!std::holds_alternative<EventRef>(item)) ++frames_;
  items_.push_back(std::move(item));
  changed_.notify_all();
  return GST_FLOW_OK;
}

bool Fifo::wait_drained() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flow_ != GST_FLOW_OK || (items_.empty() && !popped_); });
  return flow_ == GST_FLOW_OK;
}

std::optional<FifoItem> Fifo::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flow_ != GST_FLOW_OK || !items_.empty(); });
  if (flow_ != GST_FLOW_OK) return std::nullopt;
  FifoItem item = std::move(items_.front());
  items_.pop_front();
  popped_ = true;
  return item;
}

void Fifo::frame_done() {
  const std::lock_guard lock(mutex_);
  --frames_;
  changed_.notify_all();
}

void Fifo::item_done() {
  const std::lock_guard lock(mutex_);
  popped_ = false;
  changed_.notify_all();
}

std::deque<FifoItem> Fifo::take_all() {
  const std::lock_guard lock(mutex_);
  for (const FifoItem& item : items_) {
    if (!std::holds_alternative<EventRef>(item)) --frames_;
  }
  return std::exchange(items_, {});
}

}  // namespace gstnpu
