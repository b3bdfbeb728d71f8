#include "output_task.hpp"

#include <algorithm>
#include <utility>

#include "common/log.hpp"

namespace gstnpu {

bool is_silent_failure(GstFlowReturn flow) {
  return flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS;
}

bool is_sticky(GstEvent* event) {
  return gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_STICKY;
}

void SharedStream::note_latency(guint64 elapsed_ns) {
  const guint64 longest =
      has_device_alone ? drop_policy.longest(live.drop, frame_duration_ns) : GST_CLOCK_TIME_NONE;
  if (latency.observe(std::min(elapsed_ns, longest)) && upstream_is_live) {
    ask_for_latency();
  }
}

void SharedStream::ask_for_latency() {
  guint64 answered = 0;
  asked_latency_ns.compare_exchange_strong(answered, now_ns());
  gst_element_post_message(element, gst_message_new_latency(GST_OBJECT(element)));
}

void OutputTask::start() {
  stream_.watch.set_absent(false);
  gst_pad_start_task(
      src_, [](gpointer self) { static_cast<OutputTask*>(self)->run_once(); }, this, nullptr);
}

void OutputTask::pause() {
  gst_pad_pause_task(src_);
  stream_.watch.set_absent(true);
}

gboolean OutputTask::stop() {
  const gboolean has_stopped = gst_pad_stop_task(src_);
  stream_.watch.set_absent(true);
  return has_stopped;
}

void OutputTask::run_once() {
  std::optional<FifoItem> item = stream_.fifo.pop();
  if (!item) {
    pause();
    return;
  }
  const guint relinks = stream_.relinks;
  const GstFlowReturn flow = send(std::move(*item));
  if (flow == GST_FLOW_EOS) {  // events still have to pass: upstream ends the stream with one
    GST_DEBUG_OBJECT(src_, "downstream accepts no more of this stream");
    drop(stream_.fifo.end_stream(), After::kFlush);
  }
  stream_.fifo.item_done();
  if (flow != GST_FLOW_OK && flow != GST_FLOW_EOS) {
    end(flow, relinks);
  }
}

void OutputTask::drop(const std::deque<FifoItem>& items, After after) {
  for (const FifoItem& item : items) {
    const auto* event = std::get_if<EventRef>(&item);
    if (!event || !is_sticky(event->get())) continue;
    const GstEventType type = GST_EVENT_TYPE(event->get());
    if (type == GST_EVENT_CAPS && stream_.tensors) {  // the frames' caps
      stream_.tensors->pass(EventRef(gst_event_ref(event->get())));
      continue;
    }
    const bool is_kept = type != GST_EVENT_SEGMENT || after == After::kUnlink;
    if (is_kept && type != GST_EVENT_EOS) {
      gst_pad_store_sticky_event(src_, event->get());
    }
  }
}

GstFlowReturn OutputTask::send(FifoItem item) {
  if (auto* event = std::get_if<EventRef>(&item)) {
    // Makes gst-launch-1.0 -v print them.
    if (GST_EVENT_TYPE(event->get()) == GST_EVENT_EOS) {
      g_object_notify(G_OBJECT(element_), "stats");
      stream_.stats_messages.post_last();
    }
    push_event(std::move(*event));
    return GST_FLOW_OK;
  }
  if (auto* buffer = std::get_if<BufferRef>(&item)) {
    stream_.fifo.frame_done();
    return stream_.tensors ? GST_FLOW_OK : push(std::move(*buffer));
  }
  if (auto* region = std::get_if<RegionInference>(&item)) return take_region(std::move(*region));
  if (auto* frame = std::get_if<RegionFrame>(&item)) return send_regions(std::move(*frame));
  return send_result(std::move(std::get<std::unique_ptr<Inference>>(item)));
}

void OutputTask::push_event(EventRef event) {
  const FenceWatch::Absence absence(stream_.watch);
  if (!stream_.tensors) {
    gst_pad_push_event(src_, event.release());
    return;
  }
  for (EventRef& one : stream_.tensors->pass(std::move(event))) {
    gst_pad_push_event(src_, one.release());
  }
}

/// The frame with its tensors, or the tensors alone.
BufferRef OutputTask::finished(Inference& inference) {
  if (!stream_.tensors) return inference.finish();
  std::vector<EventRef> events = stream_.tensors->begin(inference.graph());
  const FenceWatch::Absence absence(stream_.watch);
  for (EventRef& event : events) gst_pad_push_event(src_, event.release());
  return inference.finish_as_tensors();
}

GstFlowReturn OutputTask::send_result(std::unique_ptr<Inference> inference) {
  BufferRef frame;
  std::optional<FrameErrors::Verdict> failure;
  try {
    inference->wait();
    frame = finished(*inference);
  } catch (...) {
    failure = stream_.errors.tell(inference->model_file(), inference->time().submitted_ns);
  }
  if (failure) return send_failed(std::move(inference), *failure);
  const InferenceTime time = inference->time();
  const guint64 waited_ns = inference->waited_ns();
  stream_.stats.count_latency(now_ns() - inference->came_ns());
  inference.reset();  // frees its request for the next frame while downstream works on this one
  stream_.fifo.frame_done();
  stream_.errors.note_success();
  stream_.stats.count_inference(time, waited_ns);
  stream_.stats.count(&StatsReport::inferred);
  stream_.note_latency(waited_ns + time.elapsed_ns());
  return push(std::move(frame));
}

/// Keeps the object's result; its frame is a later item.
GstFlowReturn OutputTask::take_region(RegionInference region) {
  RegionResults& results = *region.results;
  std::optional<FrameErrors::Verdict> failure;
  try {
    region.inference->wait();
    const InferenceTime& time = region.inference->time();
    stream_.errors.note_success();
    stream_.stats.count_inference(time, region.inference->waited_ns());
    stream_.stats.count(&StatsReport::regions);
    if (results.done.empty()) {
      results.begin_ns = time.submitted_ns - region.inference->waited_ns();
    }
    results.end_ns = std::max(results.end_ns, time.done_ns);
    results.done.push_back(region.inference->take_result());
  } catch (...) {
    failure =
        stream_.errors.tell(region.inference->model_file(), region.inference->time().submitted_ns);
  }
  region.inference.reset();
  if (!failure) return GST_FLOW_OK;
  results.is_lost = true;
  return *failure == FrameErrors::Verdict::kDeviceLost ? GST_FLOW_OK : GST_FLOW_ERROR;
}

GstFlowReturn OutputTask::send_regions(RegionFrame frame) {
  const RegionResults& results = *frame.results;
  stream_.fifo.frame_done();
  stream_.stats.count(results.is_lost ? &StatsReport::lost : &StatsReport::inferred);
  if (!results.is_lost) {
    stream_.stats.count_latency(now_ns() - results.came_ns);
    stream_.note_latency(results.end_ns - results.begin_ns);
  }
  return push(finish(std::move(frame)));
}

GstFlowReturn OutputTask::push(BufferRef frame) {
  const FenceWatch::Absence absence(stream_.watch);
  const guint64 begin_ns = now_ns();
  const GstFlowReturn flow = gst_pad_push(src_, frame.release());
  const guint64 end_ns = now_ns();
  stream_.stats.count_push(end_ns - begin_ns);
  stream_.stats_messages.post_if_due(end_ns);
  return flow;
}

GstFlowReturn OutputTask::send_failed(std::unique_ptr<Inference> inference,
                                      FrameErrors::Verdict failure) {
  BufferRef frame = inference->give_up();
  inference.reset();
  stream_.fifo.frame_done();
  if (failure != FrameErrors::Verdict::kDeviceLost) return GST_FLOW_ERROR;
  stream_.stats.count(&StatsReport::lost);
  return stream_.tensors ? GST_FLOW_OK : push(std::move(frame));
}

/// Without a link the task waits in the fifo until Stream is told of a new one. `relinks` is the
/// count from before the push: a different one now means that a link came meanwhile.
void OutputTask::end(GstFlowReturn why, guint relinks) {
  const bool is_unlinked = why == GST_FLOW_NOT_LINKED;
  if (is_unlinked && stream_.relinks != relinks) return;  // the next items go to the new link
  if (!is_unlinked) {
    pause();
  }
  if (why == GST_FLOW_FLUSHING) {
    stream_.fifo.stop(why);
    return;
  }
  GST_DEBUG_OBJECT(src_, "pausing: %s", gst_flow_get_name(why));
  std::deque<FifoItem> dropped;  // destroyed outside the lock: frames wait for the NPU
  {
    const std::scoped_lock lock(stream_.sticky_mutex);
    dropped = stream_.fifo.refuse(why);
    drop(dropped, is_unlinked ? After::kUnlink : After::kFlush);
  }
  if (is_unlinked && stream_.relinks != relinks) {
    stream_.fifo.relinked();  // before the wait below: a link exists, so upstream must not end
  }
  dropped.clear();
  if (stream_.eos && is_silent_failure(why) && why != GST_FLOW_ERROR) {
    GST_ELEMENT_FLOW_ERROR(element_, why);
  }
}

}  // namespace gstnpu
