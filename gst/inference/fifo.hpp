#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <variant>

#include "common/refs.hpp"

#include "inference.hpp"
#include "regions.hpp"

namespace gstnpu {

/// An item that waits to go downstream: an event, a frame that passes, a frame in the NPU, one
/// object of a frame in the NPU (takes no place), or the frame that such objects belong to.
using FifoItem =
    std::variant<EventRef, BufferRef, std::unique_ptr<Inference>, RegionInference, RegionFrame>;

/// Queue from the streaming thread, which waits while `max_frames` frames are inside, to the output
/// task. Carries the flow return back upstream.
class Fifo {
 public:
  explicit Fifo(guint max_frames) : max_frames_(max_frames) {}

  guint max_frames() const { return max_frames_; }
  /// Lets items through. The fifo must be empty.
  void start();
  /// Wakes both sides; every call returns `why` from now on. The first reason stays, except that
  /// FLUSHING replaces any.
  void stop(GstFlowReturn why);
  /// As stop(); also returns the items that wait.
  std::deque<FifoItem> refuse(GstFlowReturn why);
  /// Goes on after a stop for NOT_LINKED.
  void relinked();
  GstFlowReturn flow() const;

  bool has_room() const;
  /// Blocks while `max_frames` frames are inside. OK, or why the fifo stopped.
  GstFlowReturn wait_for_room();
  /// Blocks until `is_so` returns true; each look_again() asks it anew. OK, or why the fifo
  /// stopped.
  GstFlowReturn wait_until(const std::function<bool()>& is_so);
  void look_again();
  /// Queues the item; a stopped fifo drops it.
  GstFlowReturn push(FifoItem item);
  /// Blocks until everything pushed has gone downstream. False when the fifo stopped.
  bool wait_drained();

  /// Blocks for the oldest item; nullopt when the fifo stopped. A stop for NOT_LINKED keeps it
  /// waiting.
  std::optional<FifoItem> pop();
  /// Total number of frames that have left the NPU.
  guint64 frames_done() const;
  /// Blocks until frames_done() exceeds `seen`. False when no frame is inside or the fifo stopped.
  bool wait_for_frame_done(guint64 seen);
  /// The popped frame has left the NPU: another one may come in.
  void frame_done();
  /// The popped item went downstream.
  void item_done();

  /// Downstream wants no more of this stream. Takes out what waits up to the next STREAM_START,
  /// SEGMENT or EOS; where there is none, frames are refused with EOS until one of the first two is
  /// pushed. Events always come in.
  std::deque<FifoItem> end_stream();

  /// Everything that waits, oldest first.
  std::deque<FifoItem> take_all();

 private:
  bool has_place() const { return frames_ < max_frames_; }
  GstFlowReturn flow_of_frames() const;
  void end_flow(GstFlowReturn why);
  void wake_all();
  std::deque<FifoItem> take_everything();

  const guint max_frames_;
  mutable std::mutex mutex_;                       // guards all below
  std::condition_variable came_;                   // something for pop()
  std::condition_variable left_;                   // something for all others
  std::pmr::unsynchronized_pool_resource memory_;  // reused for new items
  std::pmr::deque<FifoItem> items_{&memory_};
  guint frames_ = 0;  // those in items_, and the popped one until frame_done()
  guint64 frames_done_ = 0;
  bool popped_ = false;
  bool stream_ended_ = false;  // frames are refused
  GstFlowReturn flow_ = GST_FLOW_FLUSHING;
};

}  // namespace gstnpu
