// Stream: handles caps, events, flushes and the answers of queries.
#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"
#include "common/upstream.hpp"
#include "frames/picture_warnings.hpp"

#include "stream.hpp"

namespace gstnpu {
namespace {

bool is_serialized(const EventRef& event) {
  return gst_event_type_get_flags(GST_EVENT_TYPE(event.get())) & GST_EVENT_TYPE_SERIALIZED;
}

}  // namespace

// ---- Caps

/// GStreamer refuses an event whose caps the pad does not take before the element sees it, and the
/// user reads only "not-negotiated". This tells why, and what helps.
void Stream::look_at_caps(const GstCaps* caps) {
  const std::string refusal = negotiation_->refusal_of(caps, pads_.src);
  if (!refusal.empty()) {
    refuse_stream(npu::Error(npu::ErrorCode::kUnsupported, refusal));
  }
}

/// Posts one error, however often upstream sends the caps again.
void Stream::refuse_stream(const std::exception& error) {
  if (refusals_.note_stream()) {
    post_error(pads_.element, error, {});
  }
}

/// Posts the error of a stream that ended before it began, because everything that upstream offered
/// was refused.
void Stream::refuse_empty_stream() {
  const std::string why = refusals_.last();
  if (!why.empty()) {
    refuse_stream(npu::Error(npu::ErrorCode::kIncompatible, why));
  }
}

bool Stream::start_format(const GstCaps* caps) {
  GstVideoInfo info;
  try {
    info = negotiation_->stream_of(caps);
  } catch (const std::exception& error) {
    refuse_stream(error);
    return false;
  }
  if (const std::string warning = negotiation_->color_warning(info); !warning.empty()) {
    post_warning(pads_.element, warning);
  }
  for (const std::string& warning : picture_warnings(info)) warn_once(warning);
  if (format_ && !gst_video_info_is_equal(&format_->info, &info)) {
    crop_layouts_.clear();
    opened_->source().drop_idle_requests();  // they hold frames of the last pool
  }
  format_ = {info, visible_bytes(describe_frame(info, BufferRef(gst_buffer_new()).get()))};
  refusals_.note_taken_stream();
  note_rate(info);
  // An NPU that keeps up is done with a frame before the next one comes.
  const bool changed = shared_.latency.assume(shared_.frame_duration_ns);
  ask_latency_of_upstream();
  if (changed && shared_.upstream_is_live) {
    shared_.ask_for_latency();
  }
  return true;
}

/// Asks at once: the first frames come before the pipeline asks for the latency.
void Stream::ask_latency_of_upstream() {
  GstQuery* query = gst_query_new_latency();
  if (gst_pad_peer_query(pads_.sink, query)) {
    note_latency_of_upstream(query);
  }
  gst_query_unref(query);
}

void Stream::note_latency_of_upstream(GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime least = 0;
  gst_query_parse_latency(query, &live, &least, nullptr);
  shared_.upstream_is_live = live;
  shared_.drop_policy.note_least_latency(live ? least + shared_.latency.reported_ns() : 0);
}

/// Posts a warning once, however often upstream causes it.
void Stream::warn_once(const std::string& warning) {
  if (!warning.empty() && warned_.insert(warning).second) {
    post_warning(pads_.element, warning);
  }
}

void Stream::note_rate(const GstVideoInfo& info) {
  const gint rate = GST_VIDEO_INFO_FPS_N(&info);
  shared_.frame_duration_ns =
      rate > 0
          ? gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info)),
                                  static_cast<guint64>(rate))
          : 0;
}

// ---- Events

GstFlowReturn Stream::sink_event(EventRef event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_FLUSH_START:
      flush_start(std::move(event));
      return GST_FLOW_OK;
    case GST_EVENT_FLUSH_STOP:
      flush_stop(std::move(event));
      return GST_FLOW_OK;
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event.get(), &caps);
      return start_format(caps) ? queue_event(with_tensors(std::move(event)))
                                : GST_FLOW_NOT_NEGOTIATED;
    }
    case GST_EVENT_TAG: {
      GstTagList* tags = nullptr;
      gst_event_parse_tag(event.get(), &tags);
      if (!is_turned_in_front_of(pads_.element)) {
        warn_once(orientation_warning(tags));
      }
      return queue_event(std::move(event));
    }
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment(event.get(), &segment_);
      return queue_event(std::move(event));
    case GST_EVENT_EOS:
      if (!format_) {
        refuse_empty_stream();
      }
      return queue_event(std::move(event));
    default:
      if (is_serialized(event)) return queue_event(std::move(event));
      return gst_pad_push_event(pads_.src, event.release()) ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
}

/// The caps event that goes downstream; upstream's own event where the caps are the same.
EventRef Stream::with_tensors(EventRef event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event.get(), &caps);
  sent_caps_ = negotiation_->caps_with_tensors(caps);
  if (gst_caps_is_equal(sent_caps_.get(), caps)) return event;
  EventRef changed(gst_event_new_caps(sent_caps_.get()));
  gst_event_set_seqnum(changed.get(), gst_event_get_seqnum(event.get()));
  return changed;
}

/// Another model may have other tensors: sends new caps where they differ.
void Stream::send_caps_again() {
  const CapsRef caps(gst_pad_get_current_caps(pads_.sink));
  if (!caps || !sent_caps_) return;
  const CapsRef before = std::move(sent_caps_);
  EventRef event = with_tensors(EventRef(gst_event_new_caps(caps.get())));
  if (!gst_caps_is_equal(before.get(), sent_caps_.get())) {
    queue_event(std::move(event));
  }
}

GstFlowReturn Stream::queue_event(EventRef event) {
  const GstEventType type = GST_EVENT_TYPE(event.get());
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT) {
    shared_.eos = false;
  }
  if (type == GST_EVENT_EOS) {
    shared_.eos = true;
  }
  const GstFlowReturn flow = push_or_store(std::move(event));
  if (flow == GST_FLOW_OK || flow == GST_FLOW_FLUSHING) return flow;
  if (type != GST_EVENT_EOS) return GST_FLOW_OK;
  if (is_silent_failure(flow)) {
    GST_ELEMENT_FLOW_ERROR(pads_.element, flow);
  }
  return flow;
}

/// If the fifo stopped, stores a sticky event on the pad for whatever is linked next.
GstFlowReturn Stream::push_or_store(EventRef event) {
  const EventRef copy(gst_event_ref(event.get()));
  const std::scoped_lock lock(shared_.sticky_mutex);
  const GstFlowReturn flow = shared_.fifo.push(std::move(event));
  const bool stopped = flow != GST_FLOW_OK && flow != GST_FLOW_FLUSHING;
  const bool is_of_frames = shared_.tensors && GST_EVENT_TYPE(copy.get()) == GST_EVENT_CAPS;
  if (stopped && is_sticky(copy.get()) && GST_EVENT_TYPE(copy.get()) != GST_EVENT_EOS &&
      !is_of_frames) {
    gst_pad_store_sticky_event(pads_.src, copy.get());
  }
  return flow;
}

void Stream::flush_start(EventRef event) {
  gst_pad_push_event(pads_.src, event.release());
  {
    const std::scoped_lock lock(output_mutex_);
    refuse_input();
    if (may_run_output_) {  // otherwise the next stream may own the task already
      output_.pause();
    }
  }
  output_.drop_waiting();
}

void Stream::flush_stop(EventRef event) {
  gboolean resets_time = FALSE;
  gst_event_parse_flush_stop(event.get(), &resets_time);
  if (resets_time) {
    old_base_time_ = gst_element_get_base_time(pads_.element);
  }
  gst_pad_push_event(pads_.src, event.release());
  output_.drop_waiting();
  shared_.eos = false;
  shared_.drop_policy.forget();
  picker_.forget();
  since_due_ = G_MAXUINT;  // a paused player shows one frame after a seek
  refuses_copy_ = false;
  const std::scoped_lock lock(output_mutex_);
  if (may_run_output_) {
    start_output();
  }
}

/// After a stop nothing starts the task again, not even a flush that ends at the same time: the pad
/// keeps its task, which would then work on a stream that is gone.
gboolean Stream::activate_src(bool active) {
  {
    const std::scoped_lock lock(output_mutex_);
    may_run_output_ = active;
    if (active) {
      start_output();
      return TRUE;
    }
    refuse_input();
  }
  return output_.stop();
}

void Stream::src_event(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_RECONFIGURE:  // something downstream was linked
      ++shared_.relinks;
      shared_.fifo.relinked();
      break;
    case GST_EVENT_QOS:
      shared_.drop_policy.note_qos(event, running_time());
      break;
    case GST_EVENT_LATENCY: {
      GstClockTime latency = GST_CLOCK_TIME_NONE;
      gst_event_parse_latency(event, &latency);
      shared_.drop_policy.note_latency(latency);
      shared_.asked_latency_ns = 0;
      break;
    }
    default:
      break;
  }
}

/// Called with output_mutex_ held.
void Stream::start_output() {
  shared_.fifo.start();
  if (place_) {
    place_->start();
  }
  output_.start();
}

// ---- Queries

/// When nothing that upstream offers is taken, GStreamer reports only "not-negotiated". This is a
/// warning, because upstream may have other ways; if it has none, refuse_empty_stream() makes it an
/// error.
void Stream::note_offer(const Negotiation::Verdict& verdict) {
  if (!verdict.tiles_beside.empty()) {
    refusals_.note_tiles_beside(verdict.tiles_beside);
  }
  if (!verdict.refusal.empty() && refusals_.note_offer(verdict.refusal)) {
    post_warning(pads_.element, verdict.refusal);
  }
}

/// Notes the refusal of caps that a converter tries out, to see whether it may pass frames
/// unchanged. It is reported only if it ends the stream.
void Stream::note_trial(const std::string& refusal, bool is_for_good) {
  if (refusal.empty()) return;
  refusals_.note_trial(refusal);
  if (is_for_good) {
    refuse_stream(npu::Error(npu::ErrorCode::kUnsupported, refusal));
  }
}

void Stream::add_latency(GstQuery* query) {
  note_latency_of_upstream(query);
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  const guint64 own = shared_.latency.reported_ns();
  if (GST_CLOCK_TIME_IS_VALID(max)) {
    // The fifo can hold back this much; at least one inference where the frames' duration is not
    // known.
    max += std::max<guint64>(own, shared_.fifo.max_frames() * shared_.frame_duration_ns);
  }
  gst_query_set_latency(query, live, min + own, max);
}

}  // namespace gstnpu
