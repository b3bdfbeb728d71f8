#pragma once

#include <gst/gst.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "graphs/model_instance.hpp"
#include "graphs/tensor_stream.hpp"

#include "drop_policy.hpp"
#include "fifo.hpp"
#include "frame_errors.hpp"
#include "stats.hpp"
#include "stats_messages.hpp"

namespace gstnpu {

/// What the streaming thread and the output task of a stream share.
struct SharedStream {
  /// `instance`: what the stream shares with others; null where it has the device alone.
  /// `gives_tensors`: instead of frames.
  SharedStream(GstElement* element, guint max_frames, const LiveSettings& settings,
               const ModelInstance* instance, bool gives_tensors = false)
      : live(settings),
        has_device_alone(instance == nullptr),
        fifo(max_frames),
        stats_messages(element, settings),
        backlog(instance ? std::make_shared<Backlog>(instance->backlog(), instance->turns())
                         : std::make_shared<Backlog>()),
        errors(element, settings) {
    if (gives_tensors) {
      tensors.emplace();
    }
    backlog->tell_ends([this] { fifo.look_again(); });
  }

  const LiveSettings& live;
  const bool has_device_alone;

  FenceWatch watch;  // outlives what is in the fifo
  Fifo fifo;
  Stats stats;
  StatsMessages stats_messages;
  const std::shared_ptr<Backlog> backlog;
  DropPolicy drop_policy{backlog};
  LatencyEstimate latency;
  FrameErrors errors;
  std::optional<TensorStream> tensors;  ///< of the output task; none: frames go out
  std::atomic<bool> eos{false};         ///< upstream has ended the stream
  std::atomic<bool> upstream_is_live{false};
  std::atomic<guint64> frame_duration_ns{0};  ///< 0: not known
  /// Which sticky event is the newest, while nothing is linked: held from what goes into or comes
  /// out of the fifo until it is stored on the pad.
  std::mutex sticky_mutex;
  std::atomic<guint> relinks{0};  ///< how often something downstream was linked
};

/// The source pad's task: sends downstream what waits in the fifo, in order. Element, pad and
/// stream outlive it.
class OutputTask {
 public:
  OutputTask(GstElement* element, GstPad* src, SharedStream& stream)
      : element_(element), src_(src), stream_(stream) {}

  void start();
  /// From another thread: waits until the task has ended what it is at. The ends of frames that
  /// stay in the fifo are seen nevertheless: others wait for their turns.
  void pause();
  /// Likewise, for good. The fifo must have been stopped.
  gboolean stop();
  /// Takes everything that waits out of the fifo. Frames wait for the NPU and are dropped; of the
  /// events those stay that are true after a flush.
  void drop_waiting() { drop(stream_.fifo.take_all(), After::kFlush); }

 private:
  /// A flush ends segments and the end of the stream, a link that is missing does not.
  enum class After { kFlush, kUnlink };

  void run_once();
  void drop(const std::deque<FifoItem>& items, After after);
  GstFlowReturn send(FifoItem item);
  GstFlowReturn take_region(RegionInference region);
  GstFlowReturn send_regions(RegionFrame frame);
  GstFlowReturn send_result(std::unique_ptr<Inference> inference);
  GstFlowReturn send_failed(std::unique_ptr<Inference> inference, FrameErrors::Verdict failure);
  void end(GstFlowReturn why, guint relinks);
  void note_latency(guint64 elapsed_ns);
  GstFlowReturn push(BufferRef frame);
  BufferRef finished(Inference& inference);
  void push_event(EventRef event);

  GstElement* const element_;
  GstPad* const src_;
  SharedStream& stream_;
};

/// Whether upstream cannot know that its data no longer arrives.
bool is_silent_failure(GstFlowReturn flow);

bool is_sticky(GstEvent* event);

}  // namespace gstnpu
