#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <npucore/device.hpp>
#include <npucore/error.hpp>
#include <optional>
#include <string>

#include "plugin/fifo.hpp"
#include "plugin/graph_source.hpp"
#include "plugin/plane_memory.hpp"
#include "plugin/refs.hpp"
#include "plugin/settings.hpp"
#include "plugin/stats.hpp"

namespace gstnpu {

using OpenSource = std::unique_ptr<GraphSource> (*)(const npu::Device&, const Settings&);

/// All that npuinfer and npuimport do. The GObject around it owns it and outlives it.
///
/// Threads: the sink pad's functions run in the streaming thread, loop() in the source pad's task,
/// the states wherever the application is. What they share is the fifo, the statistics and the
/// settings, each with its own lock; the rest is set while no pad is active.
class InferenceElement {
 public:
  InferenceElement(GstElement* element, GstPad* sink, GstPad* src, OpenSource open_source);

  Settings settings() const;
  void change_settings(const std::function<void(Settings&)>& change);
  GstStructure* stats() const;
  std::string device_name() const;

  // States. False: an error was posted.
  bool open();
  bool prepare();
  void stop();
  void close();

  // Sink pad
  gboolean activate_sink(bool active);
  /// Of an event that GStreamer may refuse before sink_event() sees it.
  void look_at_caps(const GstCaps* caps);
  GstFlowReturn chain(BufferRef buffer);
  gboolean sink_event(EventRef event);
  gboolean sink_query(GstQuery* query);

  // Source pad
  gboolean activate_src(bool active);
  gboolean src_query(GstQuery* query);
  void loop();

 private:
  /// What exists between NULL and READY.
  struct Opened {
    Settings settings;
    npu::Device device;
    std::unique_ptr<GraphSource> source;
    PlaneFinder finder;
    std::shared_ptr<TensorRecycler> outputs;
    std::shared_ptr<TensorRecycler> copies;
    ObjectRef<GstAllocator> allocator;
  };

  std::shared_ptr<const Opened> opened() const;
  std::unique_ptr<Opened> open_with(const Settings& settings);
  void tell_about(const Opened& opened);

  bool start_stream(const GstCaps* caps);
  GstVideoInfo stream_of(const GstCaps* caps) const;
  void refuse_stream(const std::exception& error);
  void warn_of_colors(const GstVideoInfo& info) const;
  gboolean queue_event(EventRef event);
  void flush_start(EventRef event);
  void flush_stop(EventRef event);
  void drop_waiting();
  void drop(const std::deque<FifoItem>& items);
  void start_task();

  std::unique_ptr<Inference> start_inference(BufferRef buffer);
  FoundPlanes find_planes(const FrameDescription& frame, GstBuffer* buffer);
  BoundPlanes bind(const FrameDescription& frame, GstBuffer* buffer, std::shared_ptr<Graph>& graph);
  void count_path(const Inference& inference, InputPath path, gsize bytes);
  std::shared_ptr<Graph> told_compile(const std::string& what, const GraphSource::Compile& compile);
  std::string reason_of(CopyCause cause, const std::string& detail) const;
  void note_copy(CopyCause cause, const std::string& detail, gsize bytes);

  GstFlowReturn send(FifoItem item);
  GstFlowReturn send_result(std::unique_ptr<Inference> inference);
  void tell_lost_device(const npu::Error& error);
  void stop_task(GstFlowReturn why);
  void note_latency(guint64 inference_ns);

  CapsRef taken_caps(GstPad* other, GstCaps* filter) const;
  void answer_caps(GstPad* other, GstQuery* query) const;
  void answer_accept_caps(GstQuery* query);
  void note_refused_caps(GstQuery* query);
  void note_refusal(const std::string& why);
  void refuse_empty_stream();
  void note_tiles_beside(const std::string& format);
  gboolean answer_allocation(GstQuery* query) const;
  gboolean answer_latency(GstQuery* query);

  GstElement* const element_;
  GstPad* const sink_;
  GstPad* const src_;
  const OpenSource open_source_;

  mutable std::mutex settings_mutex_;  // guards the next three
  Settings settings_;
  std::string refusal_;       // why nothing of upstream's last offer is taken
  std::string tiles_beside_;  // a tiled format that upstream offered beside ordinary memory
  std::atomic<guint> interval_{1};
  std::atomic<bool> zero_copy_required_{false};

  mutable std::mutex opened_mutex_;  // guards the pointer: queries and properties come at any time
  std::shared_ptr<Opened> opened_;
  bool told_software_ = false;
  std::atomic<bool> told_refused_caps_{false};  // since the last READY->PAUSED

  std::optional<GstVideoInfo> stream_;  // streaming thread
  gsize stream_frame_bytes_ = 0;        // streaming thread; visible bytes of a frame of stream_
  guint64 frame_index_ = 0;             // streaming thread
  std::atomic<bool> refused_stream_{false};  // an error told why the last caps are not taken
  std::atomic<bool> refused_copy_{false};    // an error told it; frames are refused until a flush
  std::atomic<bool> eos_{false};
  std::atomic<bool> upstream_is_live_{false};
  std::atomic<guint64> frame_duration_ns_{0};

  Fifo fifo_;
  Stats stats_;
  LatencyEstimate latency_;
  std::atomic<bool> device_is_lost_{false};  // no inference has ended well since it was
};

}  // namespace gstnpu
