#include "fifo.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace gstnpu {
namespace {

bool is_event(const FifoItem& item, std::initializer_list<GstEventType> types) {
  const auto* event = std::get_if<EventRef>(&item);
  return event &&
         std::find(types.begin(), types.end(), GST_EVENT_TYPE(event->get())) != types.end();
}

/// Objects are not counted: the frame behind them is.
bool is_frame(const FifoItem& item) {
  return !std::holds_alternative<EventRef>(item) && !std::holds_alternative<RegionInference>(item);
}

}  // namespace

void Fifo::start() {
  const std::scoped_lock lock(mutex_);
  flow_ = GST_FLOW_OK;
  stream_ended_ = false;
  wake_all();
}

void Fifo::stop(GstFlowReturn why) {
  const std::scoped_lock lock(mutex_);
  end_flow(why);
}

/// Called with the mutex held.
void Fifo::end_flow(GstFlowReturn why) {
  if (flow_ == GST_FLOW_OK || why == GST_FLOW_FLUSHING) {
    flow_ = why;
  }
  wake_all();
}

/// Called with the mutex held.
void Fifo::wake_all() {
  came_.notify_all();
  left_.notify_all();
}

std::deque<FifoItem> Fifo::refuse(GstFlowReturn why) {
  const std::scoped_lock lock(mutex_);
  end_flow(why);
  return take_everything();
}

void Fifo::relinked() {
  const std::scoped_lock lock(mutex_);
  if (flow_ != GST_FLOW_NOT_LINKED) return;
  flow_ = GST_FLOW_OK;
  wake_all();
}

GstFlowReturn Fifo::flow() const {
  const std::scoped_lock lock(mutex_);
  return flow_;
}

bool Fifo::has_room() const {
  const std::scoped_lock lock(mutex_);
  return has_place();
}

GstFlowReturn Fifo::wait_for_room() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return flow_of_frames() != GST_FLOW_OK || has_place(); });
  return flow_of_frames();
}

GstFlowReturn Fifo::wait_until(const std::function<bool()>& is_so) {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return flow_of_frames() != GST_FLOW_OK || is_so(); });
  return flow_of_frames();
}

/// Takes the lock, so that a thread which has just found its condition false is already waiting
/// when it is notified.
void Fifo::look_again() {
  { const std::scoped_lock lock(mutex_); }
  left_.notify_all();
}

GstFlowReturn Fifo::flow_of_frames() const {
  return flow_ == GST_FLOW_OK && stream_ended_ ? GST_FLOW_EOS : flow_;
}

/// Here and below, threads are notified after the unlock: they would block on the mutex at once.
GstFlowReturn Fifo::push(FifoItem item) {
  // `item` outlives the lock: dropping a frame may wait for the NPU.
  std::unique_lock lock(mutex_);
  if (flow_ != GST_FLOW_OK) return flow_;
  if (is_event(item, {GST_EVENT_STREAM_START, GST_EVENT_SEGMENT})) {
    stream_ended_ = false;
  }
  if (stream_ended_ && !std::holds_alternative<EventRef>(item)) return GST_FLOW_EOS;
  frames_ += is_frame(item) ? 1 : 0;
  items_.push_back(std::move(item));
  lock.unlock();
  came_.notify_one();
  return GST_FLOW_OK;
}

bool Fifo::wait_drained() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return flow_ != GST_FLOW_OK || (items_.empty() && !popped_); });
  return flow_ == GST_FLOW_OK;
}

/// A single object is returned from both paths: with a second move gcc 12 warns about members that
/// do not exist.
std::optional<FifoItem> Fifo::pop() {
  std::optional<FifoItem> item;
  std::unique_lock lock(mutex_);
  came_.wait(lock, [this] {
    return flow_ == GST_FLOW_OK ? !items_.empty() : flow_ != GST_FLOW_NOT_LINKED;
  });
  if (flow_ == GST_FLOW_OK) {
    item.emplace(std::move(items_.front()));
    items_.pop_front();
    popped_ = true;
  }
  return item;
}

guint64 Fifo::frames_done() const {
  const std::scoped_lock lock(mutex_);
  return frames_done_;
}

bool Fifo::wait_for_frame_done(guint64 seen) {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return flow_ != GST_FLOW_OK || frames_ == 0 || frames_done_ != seen; });
  return flow_ == GST_FLOW_OK && frames_done_ != seen;
}

void Fifo::frame_done() {
  {
    const std::scoped_lock lock(mutex_);
    --frames_;
    ++frames_done_;
  }
  left_.notify_all();
}

void Fifo::item_done() {
  {
    const std::scoped_lock lock(mutex_);
    popped_ = false;
  }
  left_.notify_all();
}

std::deque<FifoItem> Fifo::end_stream() {
  const std::scoped_lock lock(mutex_);
  std::deque<FifoItem> taken;
  const auto next_stream = [](const FifoItem& item) {
    return is_event(item, {GST_EVENT_STREAM_START, GST_EVENT_SEGMENT, GST_EVENT_EOS});
  };
  while (!items_.empty() && !next_stream(items_.front())) {
    frames_ -= is_frame(items_.front()) ? 1 : 0;
    taken.push_back(std::move(items_.front()));
    items_.pop_front();
  }
  stream_ended_ = items_.empty();
  left_.notify_all();
  return taken;
}

std::deque<FifoItem> Fifo::take_all() {
  const std::scoped_lock lock(mutex_);
  return take_everything();
}

/// Called with the mutex held.
std::deque<FifoItem> Fifo::take_everything() {
  frames_ -= static_cast<guint>(std::count_if(items_.begin(), items_.end(), is_frame));
  std::deque<FifoItem> taken(std::move_iterator(items_.begin()), std::move_iterator(items_.end()));
  items_.clear();
  return taken;
}

}  // namespace gstnpu
