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

/// What waits for its turn to go downstream: an event, a frame that passes, a frame in the NPU; or
/// the objects of a frame in the NPU, which take no place, and the frame behind them.
using FifoItem =
    std::variant<EventRef, BufferRef, std::unique_ptr<Inference>, RegionInference, RegionFrame>;

/// Between the streaming thread, which pushes and is held back while `max_frames` wait, and the
/// output task, which pops. Carries the flow return back upstream.
class Fifo {
 public:
  explicit Fifo(guint max_frames) : max_frames_(max_frames) {}

  guint max_frames() const { return max_frames_; }
  /// Lets items through; what was left from before must have been taken.
  void start();
  /// Wakes both sides; every call returns `why` from now on. The first reason stays, except that
  /// FLUSHING replaces any.
  void stop(GstFlowReturn why);
  /// Likewise, and takes out what waits.
  std::deque<FifoItem> refuse(GstFlowReturn why);
  /// After a stop for NOT_LINKED: goes on.
  void relinked();
  GstFlowReturn flow() const;

  bool has_room() const;
  /// Blocks while there are as many frames as may be. OK, or why the fifo stopped.
  GstFlowReturn wait_for_room();
  /// Blocks until `is_so`, which look_again() has asked anew. OK, or why the fifo stopped.
  GstFlowReturn wait_until(const std::function<bool()>& is_so);
  void look_again();
  /// Takes the item, also when it is stopped (then the item is dropped).
  GstFlowReturn push(FifoItem item);
  /// Blocks until everything pushed has gone downstream. False when the fifo stopped.
  bool wait_drained();

  /// Blocks for the oldest item; nullopt when the fifo stopped, but for NOT_LINKED.
  std::optional<FifoItem> pop();
  /// How many frames have left the NPU, ever.
  guint64 frames_done() const;
  /// Blocks until more have than `seen`. False when no frame is inside or the fifo stopped.
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
  std::pmr::unsynchronized_pool_resource memory_;  // keeps what items_ had once
  std::pmr::deque<FifoItem> items_{&memory_};
  guint frames_ = 0;  // in items_, and the popped one until frame_done()
  guint64 frames_done_ = 0;
  bool popped_ = false;
  bool stream_ended_ = false;  // frames are refused
  GstFlowReturn flow_ = GST_FLOW_FLUSHING;
};

}  // namespace gstnpu
