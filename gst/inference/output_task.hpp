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

/// State that the streaming thread and the output task of a stream share.
struct SharedStream {
  /// `instance`: shared with other streams; null where this stream has the device alone.
  /// `gives_tensors`: sends tensors instead of frames.
  SharedStream(GstElement* owner, guint max_frames, const LiveSettings& settings,
               const ModelInstance* instance, bool gives_tensors = false)
      : element(owner),
        live(settings),
        has_device_alone(instance == nullptr),
        fifo(max_frames),
        stats_messages(owner, settings),
        backlog(instance ? std::make_shared<Backlog>(instance->backlog(), instance->turns())
                         : std::make_shared<Backlog>()),
        errors(owner, settings) {
    if (gives_tensors) {
      tensors.emplace();
    }
    backlog->tell_ends([this] { fifo.look_again(); });
  }

  /// Takes the time from a frame's arrival to its result, measured or expected. Tells the pipeline
  /// of a live stream's new latency.
  void note_latency(guint64 elapsed_ns);
  /// Asks the pipeline to compute its latency anew.
  void ask_for_latency();

  GstElement* const element;
  const LiveSettings& live;
  const bool has_device_alone;

  FenceWatch watch;  // outlives the fifo's inferences
  Fifo fifo;
  Stats stats;
  StatsMessages stats_messages;
  const std::shared_ptr<Backlog> backlog;
  DropPolicy drop_policy{backlog};
  LatencyEstimate latency;
  std::atomic<guint64> asked_latency_ns{
      0};  ///< since when the pipeline has not answered; 0: it has
  FrameErrors errors;
  std::optional<TensorStream> tensors;  ///< output task only; none: frames go out
  std::atomic<bool> eos{false};         ///< upstream has ended the stream
  std::atomic<bool> upstream_is_live{false};
  std::atomic<guint64> frame_duration_ns{0};  ///< 0: not known
  /// Held from when a sticky event enters or leaves the fifo until it is stored on the pad: while
  /// nothing is linked, the newest one has to win.
  std::mutex sticky_mutex;
  std::atomic<guint> relinks{0};  ///< how often something downstream was linked
};

/// Task of the source pad: sends the fifo's items downstream, in order. Element, pad and stream
/// outlive it.
class OutputTask {
 public:
  OutputTask(GstElement* element, GstPad* src, SharedStream& stream)
      : element_(element), src_(src), stream_(stream) {}

  void start();
  /// Pauses the task; in another thread it also waits until the task has finished its current item.
  /// Frames that stay in the fifo are still seen to end, because other streams wait for their
  /// turns.
  void pause();
  /// As pause(), for good. The fifo must have been stopped.
  gboolean stop();
  /// Empties the fifo. Frames wait for the NPU and are dropped; events that remain true after a
  /// flush are stored on the pad.
  void drop_waiting() { drop(stream_.fifo.take_all(), After::kFlush); }

 private:
  /// A flush ends segments and EOS; a missing link does not.
  enum class After { kFlush, kUnlink };

  void run_once();
  void drop(const std::deque<FifoItem>& items, After after);
  GstFlowReturn send(FifoItem item);
  GstFlowReturn take_region(RegionInference region);
  GstFlowReturn send_regions(RegionFrame frame);
  GstFlowReturn send_result(std::unique_ptr<Inference> inference);
  GstFlowReturn send_failed(std::unique_ptr<Inference> inference, FrameErrors::Verdict failure);
  void end(GstFlowReturn why, guint relinks);
  GstFlowReturn push(BufferRef frame);
  BufferRef finished(Inference& inference);
  void push_event(EventRef event);

  GstElement* const element_;
  GstPad* const src_;
  SharedStream& stream_;
};

/// Whether upstream cannot tell from this flow that its data no longer arrives.
bool is_silent_failure(GstFlowReturn flow);

bool is_sticky(GstEvent* event);

}  // namespace gstnpu
