#pragma once

#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/missing_answers.hpp"
#include "common/refs.hpp"
#include "graphs/settings.hpp"

#include "compile_wait.hpp"
#include "frame_input.hpp"
#include "negotiation.hpp"
#include "opened.hpp"
#include "output_task.hpp"
#include "regions.hpp"

namespace gstnpu {

/// Element and pads of a stream; they outlive it.
struct StreamPads {
  GstElement* element;
  GstPad* sink;
  GstPad* src;
};

/// Everything that one stream counts, refuses or reports once. Exists from READY->PAUSED to
/// PAUSED->READY.
///
/// Threads: the sink pad's functions run in the streaming thread, flushes beside it, queries in any
/// thread. The output task has a thread of its own.
class Stream {
 public:
  /// `live` outlives it.
  Stream(const StreamPads& pads, std::shared_ptr<Opened> opened, guint max_frames,
         const LiveSettings& live);

  /// Compiles for the frames that upstream offers, and waits; call it before the first frame.
  /// Throws npu::Error where that fails.
  void preload();

  // Sink pad
  /// Makes the functions below refuse everything from now on, and wakes those that wait.
  void refuse_input();
  GstFlowReturn chain(BufferRef buffer);
  /// Looks at the caps of an event that GStreamer may refuse before sink_event() sees it.
  void look_at_caps(const GstCaps* caps);
  GstFlowReturn sink_event(EventRef event);
  /// Waits until everything that came in has gone out. False when the stream stopped.
  bool wait_drained() { return shared_.fifo.wait_drained(); }

  // Source pad
  gboolean activate_src(bool active);
  /// Notes an event from downstream before it goes upstream.
  void src_event(GstEvent* event);

  // Queries
  void note_offer(const Negotiation::Verdict& verdict);
  void note_trial(const std::string& refusal, bool is_for_good);
  /// Adds the element's latency to upstream's answer.
  void add_latency(GstQuery* query);

  StatsReport report() const;
  /// Stops the output task if activate_src() did not, and releases every frame.
  void end();

  // Another model
  /// Layout of the stream's frames; nullopt before the first one. Thread-safe.
  std::optional<npu::FrameLayout> layout() const;
  /// Runs `next` from the next frame on; earlier frames keep their model. Streaming thread only.
  /// Throws npu::Error, and changes nothing, where `next` does not take the stream's frames.
  void change_model(std::shared_ptr<Opened> next);

 private:
  /// The frames' format and size by the caps.
  struct Format {
    GstVideoInfo info;
    gsize frame_bytes;  ///< size of a buffer without metadata
  };

  void check_takes_frames(Opened& next) const;
  void replace_opened(std::shared_ptr<Opened> next);
  void note_layout(const npu::FrameLayout& layout, bool is_bound);
  std::optional<GstFlowReturn> enter(GstBuffer* buffer, bool is_inferred);
  bool drops(GstBuffer* buffer, Drop drop);
  void note_drop(GstBuffer* buffer, guint64 StatsReport::*reason);
  DropPolicy::Arrival arrival_of(GstBuffer* buffer) const;
  void warn_of_lag(const DropPolicy::Arrival& arrival);
  void warn_of_hunger(Drop drop);
  void warn_of_unanswered_latency();
  void tell_drop(GstBuffer* buffer, GstClockTime running_time);
  GstClockTime running_time() const;
  GstFlowReturn pass(BufferRef buffer, bool is_due);
  /// Null when the drop policy does not wait for the frame's graph, which is still being compiled.
  std::unique_ptr<Inference> start_inference(BufferRef buffer);
  std::unique_ptr<Inference> submit_in_turn(BufferRef buffer, std::shared_ptr<Graph> graph,
                                            BoundPlanes planes, const InferredRegion* region);
  void find_memory(FrameInput& input);
  BoundPlanes bind_or_copy(FrameInput& input, std::shared_ptr<Graph>& graph);
  CopyCause too_many_sizes(const FrameInput& input, const npu::FrameLayout& layout);
  bool may_scale();
  BoundPlanes scale(FrameInput& input, CopyCause cause, std::shared_ptr<Graph>& graph);
  GstFlowReturn infer_objects(BufferRef buffer, guint64 came_ns);
  std::optional<GstFlowReturn> start_objects(GstBuffer* buffer, const FrameDescription& frame,
                                             const std::vector<FrameObject>& objects,
                                             const std::shared_ptr<RegionResults>& results);
  std::unique_ptr<Inference> start_object(const RegionReader& reader, const npu::FrameLayout& frame,
                                          const FrameObject& object);
  RegionTarget region_target();
  void compile_ahead(const npu::FrameLayout& layout);
  std::shared_ptr<Graph> graph_for(const npu::FrameLayout& layout);
  /// `known`: the source's graph for the layout, null if it has none.
  std::shared_ptr<Graph> graph_for(const npu::FrameLayout& layout, std::shared_ptr<Graph> known);
  bool may_wait() const;
  std::optional<Turns::Turn> take_turn();
  void check_copy(CopyCause cause, const std::string& detail) const;
  std::string reason_of(CopyCause cause, const std::string& detail) const;
  void note_copy(CopyCause cause, const std::string& reason, gsize bytes);
  GstFlowReturn end_frame(BufferRef frame);

  bool start_format(const GstCaps* caps);
  void ask_latency_of_upstream();
  void note_latency_of_upstream(GstQuery* query);
  void note_rate(const GstVideoInfo& info);
  void warn_once(const std::string& warning);
  void refuse_stream(const std::exception& error);
  void refuse_empty_stream();
  EventRef with_tensors(EventRef event);
  void send_caps_again();
  GstFlowReturn queue_event(EventRef event);
  GstFlowReturn push_or_store(EventRef event);
  void flush_start(EventRef event);
  void flush_stop(EventRef event);
  void start_output();

  const StreamPads pads_;
  mutable std::mutex opened_mutex_;  // guards the next three
  std::shared_ptr<Opened> opened_;
  npu::ImportStats imports_before_;  // subtracted from opened_->imports()
  std::optional<npu::FrameLayout> layout_;
  bool is_bound_ = false;  // frames of layout_ may be read in place
  const LiveSettings& live_;
  std::unique_ptr<const Negotiation> negotiation_;

  std::optional<Format> format_;              // streaming thread
  CapsRef sent_caps_;                         // streaming thread; caps last sent downstream
  FrameDescription described_;                // streaming thread; last frame's, reused
  std::optional<ToldCompilation> compiling_;  // streaming thread
  std::shared_ptr<Graph> graph_;              // graph of the last frame
  std::set<std::string> warned_;              // streaming thread
  struct Fed {
    guint64 inferred = 0;  // so many frames
    guint64 since_ns = 0;  // no more since then
  };
  Fed fed_;                                      // streaming thread
  bool told_lag_ = false, told_hunger_ = false;  // streaming thread
  guint64 since_due_ = G_MAXUINT;   // streaming thread; frames since the last one that was due
  ObjectPicker picker_;             // streaming thread
  MissingAnswers missing_answers_;  // streaming thread; with roi-list
  // With a graph; streaming thread:
  std::vector<npu::FrameLayout> crop_layouts_, frame_layouts_;
  GstSegment segment_;                                            // streaming thread
  std::atomic<GstClockTime> old_base_time_{GST_CLOCK_TIME_NONE};  // base time before the last flush
  std::atomic<bool> refuses_copy_{false};  // an error was told; frames are refused until a flush
  Refusals refusals_;
  SharedStream shared_;
  std::optional<Turns::Place> place_;  // among the streams of its instance
  std::mutex output_mutex_;  // guards may_run_output_, and start and pause of fifo and task
  bool may_run_output_ = false;
  OutputTask output_;
};

}  // namespace gstnpu
