// InferenceElement: frames and events, from the sink pad through the fifo to the source pad.
#include <chrono>
#include <npucore/error.hpp>
#include <utility>

#include "plugin/bus.hpp"
#include "plugin/caps.hpp"
#include "plugin/in_place.hpp"
#include "plugin/inference_element.hpp"
#include "plugin/log.hpp"

namespace gstnpu {
namespace {

gsize visible_bytes(const FrameDescription& frame) {
  gsize bytes = 0;
  for (const PlaneSpan& plane : frame.planes) bytes += plane.rows * plane.row_bytes;
  return bytes;
}

/// A frame that zero-copy=require refuses.
class CopyRefused : public npu::Error {
 public:
  explicit CopyRefused(const std::string& why)
      : npu::Error(npu::ErrorCode::kIncompatible,
                   "zero-copy=require refuses a frame that would have to be copied before the NPU "
                   "reads it: " +
                       why) {}
};

/// A blob's graph takes one size only, but a buffer's crop may be of any.
void check_size(const npu::FrameLayout& graph, const npu::FrameLayout& frame,
                const GraphSource& source) {
  const npu::FrameLayout own = without_padding(graph), wanted = without_padding(frame);
  if (own.format == wanted.format && own.width == wanted.width && own.height == wanted.height &&
      own.crop_left == wanted.crop_left && own.crop_top == wanted.crop_top) {
    return;
  }
  throw npu::Error(
      npu::ErrorCode::kUnsupported,
      "the model was compiled for " + graph.describe() + ", but a buffer is cropped to " +
          std::to_string(frame.width) + "x" + std::to_string(frame.height) +
          (frame.crop_left % 2 + frame.crop_top % 2 > 0 ? " from an odd pixel on" : "") +
          "; put videocrop or videoconvertscale in front, or make the blob anew: " +
          source.command_for(frame));
}

/// Frames that could be read in place, were the blob made for them.
[[noreturn]] void refuse_layout(const npu::FrameLayout& graph, const npu::FrameLayout& frame,
                                const GraphSource& source) {
  throw npu::Error(npu::ErrorCode::kIncompatible,
                   "the blob was compiled for " + graph.describe() +
                       ", but the frames are in memory as " + frame.describe() +
                       "; make it anew: " + source.command_for(frame) +
                       " (or let each frame be copied: convert=allow)");
}

bool is_sticky(const EventRef& event) {
  return gst_event_type_get_flags(GST_EVENT_TYPE(event.get())) & GST_EVENT_TYPE_STICKY;
}

bool is_serialized(const EventRef& event) {
  return gst_event_type_get_flags(GST_EVENT_TYPE(event.get())) & GST_EVENT_TYPE_SERIALIZED;
}

/// Whether upstream cannot know that its data no longer arrives.
bool is_silent_failure(GstFlowReturn flow) {
  return flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS;
}

}  // namespace

gboolean InferenceElement::activate_sink(bool active) {
  if (!active) fifo_.stop(GST_FLOW_FLUSHING);
  return TRUE;
}

gboolean InferenceElement::activate_src(bool active) {
  if (active) {
    fifo_.start();
    start_task();
    return TRUE;
  }
  fifo_.stop(GST_FLOW_FLUSHING);
  return gst_pad_stop_task(src_);
}

void InferenceElement::start_task() {
  gst_pad_start_task(
      src_, [](gpointer self) { static_cast<InferenceElement*>(self)->loop(); }, this, nullptr);
}

// ---- Streaming thread

GstFlowReturn InferenceElement::chain(BufferRef buffer) {
  if (const GstFlowReturn flow = fifo_.wait_for_room(); flow != GST_FLOW_OK) return flow;
  if (eos_) return GST_FLOW_EOS;
  if (!stream_) return GST_FLOW_NOT_NEGOTIATED;
  if (refused_copy_) return GST_FLOW_ERROR;
  const bool is_due = frame_index_++ % interval_ == 0;
  const bool is_empty = gst_buffer_get_size(buffer.get()) == 0;
  if (!is_due || is_empty) {
    stats_.count_frame(is_empty ? 0 : stream_frame_bytes_);
    return fifo_.push(std::move(buffer));
  }
  BufferRef frame(gst_buffer_ref(buffer.get()));
  try {
    auto inference = start_inference(std::move(buffer));
    frame.reset();  // nobody else holds it then, and it is not copied for its metadata
    return fifo_.push(std::move(inference));
  } catch (const CopyRefused& error) {
    refused_copy_ = true;
    post_error(element_, error, {});
    return GST_FLOW_ERROR;
  } catch (const npu::Error& error) {
    if (error.code() == npu::ErrorCode::kDeviceLost) {
      tell_lost_device(error);
      return fifo_.push(std::move(frame));
    }
    if (error.code() == npu::ErrorCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(element_, error, opened_->settings.model);
    return GST_FLOW_ERROR;
  } catch (const std::exception& error) {
    post_error(element_, error, opened_->settings.model);
    return GST_FLOW_ERROR;
  }
}

std::unique_ptr<Inference> InferenceElement::start_inference(BufferRef buffer) {
  const FrameDescription frame = describe_frame(*stream_, buffer.get());
  const gsize bytes = visible_bytes(frame);
  stats_.count_frame(bytes);
  std::shared_ptr<Graph> graph;
  BoundPlanes planes = bind(frame, buffer.get(), graph);
  const InputPath path = planes.path;
  auto inference = std::make_unique<Inference>(std::move(buffer), std::move(graph),
                                               std::move(planes), *opened_->outputs);
  count_path(*inference, path, bytes);
  return inference;
}

/// A frame that bind() copied is counted already.
void InferenceElement::count_path(const Inference& inference, InputPath path, gsize bytes) {
  if (path == InputPath::kCopied) return;
  if (inference.was_copied()) {
    note_copy(CopyCause::kLostDevice, {}, bytes);
  } else {
    stats_.count_zero_copy(path, bytes);
  }
}

BoundPlanes InferenceElement::bind(const FrameDescription& frame, GstBuffer* buffer,
                                   std::shared_ptr<Graph>& graph) {
  const auto told = [this](const std::string& what, const GraphSource::Compile& compile) {
    return told_compile(what, compile);
  };
  GraphSource& source = *opened_->source;
  FoundPlanes found = find_planes(frame, buffer);
  const npu::ImportStats imports = opened_->finder.imports();
  stats_.set_imports(imports.imports, imports.evictions);
  if (!found.planes.empty()) {
    graph = source.graph_for(frame.layout, told);
    if (!reads_in_place(*graph, frame.layout)) {
      check_size(graph->layout(), frame.layout, source);
      if (!opened_->settings.converts_layout) refuse_layout(graph->layout(), frame.layout, source);
      found.cause = CopyCause::kBlobLayout;
    } else if (BoundPlanes bound = bind_in_place(*graph, frame, found); !bound.planes.empty()) {
      return bound;
    } else {
      found.cause = CopyCause::kShortMemory;
    }
  }
  note_copy(found.cause, found.detail, visible_bytes(frame));
  graph = source.graph_for(default_layout(frame.layout), told);
  check_size(graph->layout(), frame.layout, source);
  CopiedFrame copied = copy_frame(frame, buffer, graph->layout(), *opened_->copies);
  return {std::move(copied.planes), {}, std::move(copied.memory), InputPath::kCopied};
}

/// Where the device has no room for the frame's memory: lets go of what idle requests are bound to,
/// then waits for the frames that are in the NPU, one after the other.
FoundPlanes InferenceElement::find_planes(const FrameDescription& frame, GstBuffer* buffer) {
  FoundPlanes found = opened_->finder.find(frame, buffer);
  bool may_get_room = true;
  while (found.cause == CopyCause::kImportWindow && may_get_room) {
    const guint64 done = fifo_.frames_done();
    opened_->source->drop_idle_requests();
    found = opened_->finder.find(frame, buffer);
    may_get_room = found.cause == CopyCause::kImportWindow && fifo_.wait_for_frame_done(done);
  }
  return found;
}

std::shared_ptr<Graph> InferenceElement::told_compile(const std::string& what,
                                                      const GraphSource::Compile& compile) {
  post_progress(element_, GST_PROGRESS_TYPE_START, "compiling " + what);
  auto told = std::chrono::seconds(0);
  const auto still_wanted = [&](const npu::CompileProgress& progress) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed);
    if (elapsed > std::exchange(told, elapsed)) {
      post_progress(element_, GST_PROGRESS_TYPE_CONTINUE,
                    "compiling " + what + ": " + npu::to_string(progress.phase) + ", " +
                        std::to_string(elapsed.count()) + " s");
    }
    return fifo_.flow() == GST_FLOW_OK;
  };
  try {
    std::shared_ptr<Graph> graph = compile(still_wanted);
    post_progress(element_, GST_PROGRESS_TYPE_COMPLETE, "compiled " + what);
    stats_.set_compile_ns(opened_->source->compile_ns());
    return graph;
  } catch (const npu::Error& error) {
    const bool cancelled = error.code() == npu::ErrorCode::kCancelled;
    post_progress(element_, cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR,
                  "compiling " + what + ": " + error.what());
    throw;
  }
}

std::string InferenceElement::reason_of(CopyCause cause, const std::string& detail) const {
  std::string text = std::string(explain(cause)) + (detail.empty() ? "" : ": " + detail);
  const std::lock_guard lock(settings_mutex_);
  if (cause != CopyCause::kOrdinaryMemory || tiles_beside_.empty()) return text;
  return text + ". Upstream has DMA-BUFs too, but " + cure_of_tiles(tiles_beside_);
}

/// Throws CopyRefused where no copy may be.
void InferenceElement::note_copy(CopyCause cause, const std::string& detail, gsize bytes) {
  const std::string text = reason_of(cause, detail);
  if (zero_copy_required_) throw CopyRefused(text);
  if (stats_.count_copy(cause, bytes, text)) {
    post_warning(element_, "frames are copied before the NPU reads them: " + text);
  }
}

bool InferenceElement::start_stream(const GstCaps* caps) {
  std::optional<GstVideoInfo> info;
  try {
    info = stream_of(caps);
  } catch (const std::exception& error) {
    refuse_stream(error);
    return false;
  }
  warn_of_colors(*info);
  if (stream_ && !gst_video_info_is_equal(&*stream_, &*info)) {
    opened_->source->drop_idle_requests();  // they hold frames of the last pool
  }
  stream_ = info;
  refused_stream_ = false;
  // Of a buffer without metadata.
  stream_frame_bytes_ = visible_bytes(describe_frame(*info, BufferRef(gst_buffer_new()).get()));
  const gint rate = GST_VIDEO_INFO_FPS_N(&*stream_);
  frame_duration_ns_ =
      rate > 0
          ? gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&*stream_)),
                                  static_cast<guint64>(rate))
          : 0;
  latency_.assume(frame_duration_ns_);  // an NPU that keeps up is done by then
  return true;
}

// ---- Events

gboolean InferenceElement::sink_event(EventRef event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_FLUSH_START:
      flush_start(std::move(event));
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      flush_stop(std::move(event));
      return TRUE;
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      return start_stream(caps) && queue_event(std::move(event));
    }
    case GST_EVENT_EOS:
      if (!stream_) refuse_empty_stream();
      return queue_event(std::move(event));
    default:
      if (!is_serialized(event)) return gst_pad_push_event(src_, event.release());
      return queue_event(std::move(event));
  }
}

gboolean InferenceElement::queue_event(EventRef event) {
  const GstEventType type = GST_EVENT_TYPE(event.get());
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT) eos_ = false;
  const bool stays = is_sticky(event);
  if (type == GST_EVENT_EOS) eos_ = true;
  const GstFlowReturn flow = fifo_.push(std::move(event));
  if (type != GST_EVENT_EOS) return flow == GST_FLOW_OK || stays;
  if (is_silent_failure(flow)) GST_ELEMENT_FLOW_ERROR(element_, flow);
  return flow == GST_FLOW_OK;
}

void InferenceElement::flush_start(EventRef event) {
  gst_pad_push_event(src_, event.release());
  fifo_.stop(GST_FLOW_FLUSHING);
  gst_pad_pause_task(src_);
  drop_waiting();
}

void InferenceElement::flush_stop(EventRef event) {
  gst_pad_push_event(src_, event.release());
  drop_waiting();
  eos_ = false;
  refused_copy_ = false;
  if (GST_PAD_MODE(src_) != GST_PAD_MODE_PUSH) return;
  fifo_.start();
  start_task();
}

void InferenceElement::drop_waiting() {
  drop(fifo_.take_all());
}

void InferenceElement::drop(const std::deque<FifoItem>& items) {
  for (const FifoItem& item : items) {
    const auto* event = std::get_if<EventRef>(&item);
    if (!event || !is_sticky(*event)) continue;
    const GstEventType type = GST_EVENT_TYPE(event->get());
    // Caps and tags stay true after a flush, segments and EOS do not.
    if (type != GST_EVENT_SEGMENT && type != GST_EVENT_EOS) {
      gst_pad_store_sticky_event(src_, event->get());
    }
  }
}

// ---- Output task

void InferenceElement::loop() {
  std::optional<FifoItem> item = fifo_.pop();
  if (!item) {
    gst_pad_pause_task(src_);
    return;
  }
  const GstFlowReturn flow = send(std::move(*item));
  if (flow == GST_FLOW_EOS) {  // events still have to pass: upstream ends the stream with one
    GST_DEBUG_OBJECT(src_, "downstream wants no more of this stream");
    drop(fifo_.end_stream());
  }
  fifo_.item_done();
  if (flow != GST_FLOW_OK && flow != GST_FLOW_EOS) stop_task(flow);
}

GstFlowReturn InferenceElement::send(FifoItem item) {
  if (auto* event = std::get_if<EventRef>(&item)) {
    // gst-launch-1.0 -v then shows them.
    if (GST_EVENT_TYPE(event->get()) == GST_EVENT_EOS) g_object_notify(G_OBJECT(element_), "stats");
    gst_pad_push_event(src_, event->release());
    return GST_FLOW_OK;
  }
  if (auto* buffer = std::get_if<BufferRef>(&item)) {
    fifo_.frame_done();
    return gst_pad_push(src_, buffer->release());
  }
  return send_result(std::move(std::get<std::unique_ptr<Inference>>(item)));
}

GstFlowReturn InferenceElement::send_result(std::unique_ptr<Inference> inference) {
  BufferRef frame;
  try {
    inference->wait();
    frame = inference->finish(opened_->settings.model);
  } catch (const npu::Error& error) {
    if (error.code() == npu::ErrorCode::kDeviceLost) {
      tell_lost_device(error);
      frame = inference->give_up();
      inference.reset();
      fifo_.frame_done();
      return gst_pad_push(src_, frame.release());
    }
    fifo_.frame_done();
    post_error(element_, error, opened_->settings.model);
    return GST_FLOW_ERROR;
  } catch (const std::exception& error) {
    fifo_.frame_done();
    post_error(element_, error, opened_->settings.model);
    return GST_FLOW_ERROR;
  }
  const guint64 elapsed_ns = inference->elapsed_ns();
  inference.reset();  // its request is free for the next frame while downstream works on this one
  fifo_.frame_done();
  device_is_lost_ = false;
  stats_.count_inference(elapsed_ns);
  note_latency(elapsed_ns);
  return gst_pad_push(src_, frame.release());
}

/// npucore loads the model again by itself. One warning, however many frames were in flight.
void InferenceElement::tell_lost_device(const npu::Error& error) {
  if (device_is_lost_.exchange(true)) return;
  post_warning(element_, std::string("the NPU was lost, frames that were in it pass without "
                                     "tensors: ") +
                             error.what());
}

void InferenceElement::stop_task(GstFlowReturn why) {
  gst_pad_pause_task(src_);
  fifo_.stop(why);
  if (why == GST_FLOW_FLUSHING) return;
  GST_DEBUG_OBJECT(src_, "pausing: %s", gst_flow_get_name(why));
  drop_waiting();
  if (eos_ && is_silent_failure(why) && why != GST_FLOW_ERROR) {
    GST_ELEMENT_FLOW_ERROR(element_, why);
  }
}

void InferenceElement::note_latency(guint64 inference_ns) {
  if (!latency_.observe(inference_ns) || !upstream_is_live_) return;
  gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT(element_)));
}

}  // namespace gstnpu
