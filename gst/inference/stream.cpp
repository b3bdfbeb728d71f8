// Stream: takes frames from the sink pad into the fifo.
#include "stream.hpp"

#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"
#include "common/upstream.hpp"
#include "frames/caps.hpp"
#include "frames/frame_description.hpp"
#include "frames/picture_warnings.hpp"

namespace gstnpu {
namespace {

/// Whether the frame has no content: it is flagged as a gap, or empty.
bool is_gap(GstBuffer* buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) || gst_buffer_get_size(buffer) == 0;
}

}  // namespace

Stream::Stream(const StreamPads& pads, std::shared_ptr<Opened> opened, guint max_frames,
               const LiveSettings& live)
    : pads_(pads),
      opened_(std::move(opened)),
      imports_before_(opened_->imports()),
      live_(live),
      negotiation_(std::make_unique<Negotiation>(opened_)),
      picker_(opened_->settings().object_class),
      shared_(pads.element, max_frames, live, opened_->instance().get(),
              opened_->settings().gives_tensors),
      output_(pads.element, pads.src, shared_) {
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
  if (const auto& instance = opened_->instance()) {
    place_.emplace(instance->turns());
  }
}

void Stream::refuse_input() {
  shared_.fifo.stop(GST_FLOW_FLUSHING);
  if (place_) {
    place_->stop();
  }
}

StatsReport Stream::report() const {
  StatsReport report = shared_.stats.report();
  const std::scoped_lock lock(opened_mutex_);
  const npu::ImportStats imports = opened_->imports();
  report.imports = imports.imports - imports_before_.imports;
  report.import_evictions = imports.evictions - imports_before_.evictions;
  return report;
}

void Stream::end() {
  activate_src(false);
  output_.drop_waiting();
  opened_->source().drop_idle_requests();
}

void Stream::preload() {
  if (opened_->settings().region == InferenceRegion::kRoiList) {
    compile_ahead(region_target().layout);
    return;
  }
  const std::optional<GstVideoInfo> info = negotiation_->foreseen(pads_.sink, pads_.src);
  if (!info) {
    post_warning(pads_.element,
                 "preload has no effect: upstream does not say yet which frames it has, so the "
                 "model is compiled for the first one; put a capsfilter with format, width and "
                 "height in front");
    return;
  }
  compile_ahead(layout_of_stream(*info));
}

void Stream::compile_ahead(const npu::FrameLayout& layout) {
  GraphSource& source = opened_->source();
  if (source.find(layout)) return;
  ToldCompilation compilation(source.start(layout), pads_.element);
  while (!compilation.get(std::chrono::seconds(1))) {
  }
}

// ---- Another model

std::optional<npu::FrameLayout> Stream::layout() const {
  const std::scoped_lock lock(opened_mutex_);
  return layout_;
}

void Stream::note_layout(const npu::FrameLayout& layout, bool is_bound) {
  is_bound_ = is_bound;
  if (layout_ == layout) return;
  const std::scoped_lock lock(opened_mutex_);
  layout_ = layout;
}

void Stream::change_model(std::shared_ptr<Opened> next) {
  check_takes_frames(*next);
  auto negotiation = std::make_unique<Negotiation>(next);
  if (format_) {
    if (const std::string warning = negotiation->color_warning(format_->info); !warning.empty()) {
      post_warning(pads_.element, warning);
    }
  }
  compiling_.reset();
  crop_layouts_.clear();
  frame_layouts_.clear();
  picker_ = ObjectPicker(next->settings().object_class);
  graph_.reset();
  opened_->source().drop_idle_requests();
  const std::shared_ptr<Opened> former = opened_;  // freed outside the lock
  replace_opened(std::move(next));
  negotiation_ = std::move(negotiation);
  send_caps_again();
}

void Stream::replace_opened(std::shared_ptr<Opened> next) {
  const npu::ImportStats before = next->imports();
  const std::scoped_lock lock(opened_mutex_);
  const npu::ImportStats now = opened_->imports();
  // Counters are unsigned: the differences may wrap, the sums are right.
  imports_before_.imports = before.imports - (now.imports - imports_before_.imports);
  imports_before_.evictions = before.evictions - (now.evictions - imports_before_.evictions);
  opened_ = std::move(next);
}

void Stream::check_takes_frames(Opened& next) const {
  if (format_) {
    const CapsRef caps(gst_pad_get_current_caps(pads_.sink));
    const Negotiation negotiation(std::shared_ptr<const Opened>(&next, [](const Opened*) {}));
    const std::string refusal = negotiation.refusal_of(caps.get(), pads_.src);
    if (!refusal.empty()) throw npu::Error(npu::ErrorCode::kUnsupported, refusal);
  }
  if (layout_ && is_bound_) {
    check_reads(next, *layout_);
  }
}

// ---- Frames

GstFlowReturn Stream::chain(BufferRef buffer) {
  const guint64 came_ns = now_ns();
  if (const GstFlowReturn flow = shared_.fifo.flow(); flow != GST_FLOW_OK) return flow;
  if (shared_.eos) return GST_FLOW_EOS;
  if (!format_) return GST_FLOW_NOT_NEGOTIATED;
  if (refuses_copy_) return GST_FLOW_ERROR;
  const bool is_due = ++since_due_ >= live_.inference_interval;
  const bool is_inferred = is_due && !is_gap(buffer.get());
  if (is_inferred) {  // a gap leaves its turn to the next frame
    since_due_ = 0;
  }
  if (is_inferred && opened_->settings().region == InferenceRegion::kRoiList) {
    return infer_objects(std::move(buffer), came_ns);
  }
  const std::optional<GstFlowReturn> flow = enter(buffer.get(), is_inferred);
  if (flow != GST_FLOW_OK) return flow.value_or(GST_FLOW_OK);
  if (!is_inferred) return pass(std::move(buffer), is_due);
  BufferRef frame(gst_buffer_ref(buffer.get()));
  try {
    auto inference = start_inference(std::move(buffer));
    if (!inference) {
      note_drop(frame.get(), &StatsReport::dropped);
      return GST_FLOW_OK;
    }
    inference->note_arrival(came_ns);
    frame.reset();  // must be the only reference left: finish() copies a shared buffer
    return shared_.fifo.push(std::move(inference));
  } catch (...) {
    return end_frame(std::move(frame));
  }
}

/// Waits for a place in the fifo. Nullopt where the frame, which was to be inferred, is dropped
/// instead.
std::optional<GstFlowReturn> Stream::enter(GstBuffer* buffer, bool is_inferred) {
  const Drop drop = is_inferred ? live_.drop.load() : Drop::kNone;
  if (drop == Drop::kBusy && drops(buffer, drop)) return std::nullopt;
  if (const GstFlowReturn flow = shared_.fifo.wait_for_room(); flow != GST_FLOW_OK) return flow;
  if (drop == Drop::kLate && drops(buffer, drop)) return std::nullopt;
  if (is_inferred && drop == Drop::kNone && shared_.upstream_is_live) {
    warn_of_lag(arrival_of(buffer));
  }
  return GST_FLOW_OK;
}

GstFlowReturn Stream::pass(BufferRef buffer, bool is_due) {
  shared_.stats.count_frame(gst_buffer_get_size(buffer.get()) == 0 ? 0 : format_->frame_bytes);
  shared_.stats.count(is_due ? &StatsReport::gap : &StatsReport::skipped);
  return shared_.fifo.push(std::move(buffer));
}

/// GST_CLOCK_TIME_NONE where the element has no clock or does not play.
GstClockTime Stream::running_time() const {
  if (GST_STATE(pads_.element) != GST_STATE_PLAYING) return GST_CLOCK_TIME_NONE;
  // After a flush the running time starts anew, but the base time changes only when the sink has a
  // frame again.
  if (gst_element_get_base_time(pads_.element) == old_base_time_) return GST_CLOCK_TIME_NONE;
  return gst_element_get_current_running_time(pads_.element);
}

DropPolicy::Arrival Stream::arrival_of(GstBuffer* buffer) const {
  return {.frame = gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)),
          .now = running_time(),
          .has_room = shared_.fifo.has_room(),
          .can_wait = !shared_.upstream_is_live};
}

/// Whether the frame is dropped; if so, counts and reports it.
bool Stream::drops(GstBuffer* buffer, Drop drop) {
  DropPolicy::Arrival arrival = arrival_of(buffer);
  DropPolicy::Verdict verdict = shared_.drop_policy.judge(drop, arrival);
  if (verdict == DropPolicy::Verdict::kLate) {
    arrival.offset = offset_behind(pads_.src);
    verdict = shared_.drop_policy.judge(drop, arrival);
  }
  if (verdict == DropPolicy::Verdict::kInfer) return false;
  // Streams that share a device learn how long a frame waits there from those that are dropped too:
  // else one whose latency is too small for any frame would never learn it.
  if (verdict == DropPolicy::Verdict::kLate && !shared_.has_device_alone) {
    shared_.note_latency(
        std::min(shared_.backlog->expected_ns(now_ns()), shared_.backlog->fair_ns()));
  }
  warn_of_hunger(drop);
  if (verdict == DropPolicy::Verdict::kLate) {
    warn_of_unanswered_latency();
  }
  shared_.stats.count_frame(format_->frame_bytes);
  note_drop(buffer,
            verdict == DropPolicy::Verdict::kLate ? &StatsReport::late : &StatsReport::dropped);
  return true;
}

/// Tells once where a live stream falls behind, because all of its frames are inferred.
void Stream::warn_of_lag(const DropPolicy::Arrival& arrival) {
  constexpr GstClockTime kMuch = 3 * GST_SECOND;
  if (told_lag_ || !GST_CLOCK_TIME_IS_VALID(arrival.frame) ||
      !GST_CLOCK_TIME_IS_VALID(arrival.now) || arrival.now < arrival.frame + kMuch) {
    return;
  }
  // Behind a compilation a stream may catch up.
  const guint64 device_ns = shared_.backlog->device_ns();
  const guint64 needed_ns = shared_.backlog->fair_ns() - device_ns;
  if (needed_ns <= shared_.frame_duration_ns) return;
  told_lag_ = true;
  post_warning(pads_.element,
               "the stream is live, and its frames come " +
                   std::to_string((arrival.now - arrival.frame) / GST_SECOND) +
                   " s late and later: an inference takes " +
                   std::to_string(device_ns / GST_MSECOND) + " ms" +
                   (shared_.has_device_alone ? "" : ", and other streams share the NPU") +
                   ", too long for each frame. Set drop=late, or inference-interval");
}

/// Tells once where nothing was inferred for some seconds, and the likely cause.
void Stream::warn_of_hunger(Drop drop) {
  constexpr guint64 kLong = 5 * GST_SECOND;
  const guint64 inferred = shared_.stats.counted(&StatsReport::inferred), now = now_ns();
  if (inferred != fed_.inferred || fed_.since_ns == 0) {
    fed_ = {inferred, now};
  }
  if (told_hunger_ || now < fed_.since_ns + kLong) return;
  told_hunger_ = true;
  post_warning(pads_.element,
               std::string("every frame of the last 5 s was dropped as ") +
                   (drop == Drop::kLate ? "late" : "the NPU was busy") + ": an inference takes " +
                   std::to_string(shared_.backlog->device_ns() / GST_MSECOND) + " ms" +
                   (shared_.has_device_alone ? "" : ", and other streams share the NPU") +
                   "; use a smaller or faster model, fewer streams, or drop=busy");
}

/// Tells once where the pipeline's latency is too small because nobody computes it anew.
void Stream::warn_of_unanswered_latency() {
  constexpr guint64 kLong = 3 * GST_SECOND;
  const guint64 asked = shared_.asked_latency_ns;
  if (asked == 0 || now_ns() < asked + kLong) return;
  warn_once(
      "frames are dropped as late, because the pipeline has not computed its latency anew since "
      "this element asked for that: let the program answer GST_MESSAGE_LATENCY with "
      "gst_bin_recalculate_latency()");
}

void Stream::note_drop(GstBuffer* buffer, guint64 StatsReport::*reason) {
  shared_.stats.count(reason);
  tell_drop(buffer,
            gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)));
  shared_.stats_messages.post_if_due(now_ns());  // a message may be due although no frame goes out
}

/// Reports a dropped frame as sinks and decoders do: a QoS message on the bus, and a QoS event that
/// tells upstream to slow down.
void Stream::tell_drop(GstBuffer* buffer, GstClockTime running_time) {
  const guint64 frame_ns = shared_.frame_duration_ns;
  const guint64 device_ns = std::max<guint64>(shared_.backlog->device_ns(), 1);
  const double proportion =
      std::min(1.0, static_cast<double>(frame_ns) / static_cast<double>(device_ns));
  GstMessage* message = gst_message_new_qos(
      GST_OBJECT(pads_.element), shared_.upstream_is_live, running_time,
      gst_segment_to_stream_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)),
      GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer));
  gst_message_set_qos_values(message, 0, proportion, 1000000);
  const Stats& stats = shared_.stats;
  gst_message_set_qos_stats(
      message, GST_FORMAT_BUFFERS, stats.counted(&StatsReport::inferred),
      stats.counted(&StatsReport::dropped) + stats.counted(&StatsReport::late));
  gst_element_post_message(pads_.element, message);
  if (GST_CLOCK_TIME_IS_VALID(running_time)) {
    gst_pad_push_event(pads_.sink,
                       gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, proportion, 0, running_time));
  }
}

/// Call it in a catch block.
GstFlowReturn Stream::end_frame(BufferRef frame) {
  // A lost device may fail with other error codes when it cannot be opened again.
  const bool is_lost = graph_ && graph_->model().is_lost();
  switch (shared_.errors.tell(opened_->model_file(), now_ns(), is_lost)) {
    case FrameErrors::Verdict::kDeviceLost:
      shared_.stats.count(&StatsReport::lost);
      return shared_.fifo.push(std::move(frame));
    case FrameErrors::Verdict::kCancelled: {
      const GstFlowReturn flow = shared_.fifo.flow();  // why the wait ended
      return flow == GST_FLOW_OK ? GST_FLOW_FLUSHING : flow;
    }
    case FrameErrors::Verdict::kCopyRefused:
      refuses_copy_ = true;
      return GST_FLOW_ERROR;
    case FrameErrors::Verdict::kFatal:
      break;
  }
  return GST_FLOW_ERROR;
}

std::unique_ptr<Inference> Stream::start_inference(BufferRef buffer) {
  FrameInput input(*opened_, format_->info, buffer.get(), described_);
  const gsize bytes = input.visible_bytes();
  shared_.stats.count_frame(bytes);
  const bool has_fields = is_interlaced(format_->info, buffer.get());
  find_memory(input);
  std::shared_ptr<Graph> graph;
  BoundPlanes planes = bind_or_copy(input, graph);
  if (!graph) return nullptr;
  const InputPath path = planes.path;
  std::unique_ptr<Inference> inference =
      submit_in_turn(std::move(buffer), std::move(graph), std::move(planes), nullptr);
  if (!inference) return nullptr;
  inference->note_frame_size(input.layout());
  shared_.stats.count(&StatsReport::interlaced, has_fields ? 1 : 0);
  if (path == InputPath::kCopied) {
    note_copy(input.cause(), reason_of(input.cause(), input.detail()), bytes);
  } else if (inference->was_copied()) {
    check_copy(CopyCause::kLostDevice, {});
    note_copy(CopyCause::kLostDevice, reason_of(CopyCause::kLostDevice, {}), bytes);
  } else {
    shared_.stats.count_zero_copy(path, bytes);
  }
  return inference;
}

/// Null when its turn does not come in time.
std::unique_ptr<Inference> Stream::submit_in_turn(BufferRef buffer, std::shared_ptr<Graph> graph,
                                                  BoundPlanes planes,
                                                  const InferredRegion* region) {
  const auto submit = [&] {
    return std::make_unique<Inference>(std::move(buffer), std::move(graph), std::move(planes),
                                       opened_->outputs(), shared_.backlog, shared_.watch, region);
  };
  if (!place_) return submit();
  const guint64 asked_ns = now_ns();
  std::optional<Turns::Turn> turn = take_turn();
  if (!turn) return nullptr;
  const guint64 waited_ns = now_ns() - asked_ns;
  auto inference = submit();
  turn->keep();  // Backlog::end() gives it back
  inference->note_turn(waited_ns);
  return inference;
}

/// Nullopt where the frame is dropped instead, because it waited for a whole frame duration.
std::optional<Turns::Turn> Stream::take_turn() {
  constexpr std::chrono::nanoseconds kForEver = std::chrono::hours{24 * 365};
  constexpr guint64 kUsualFrame = GST_SECOND / 30;
  const guint64 known = shared_.frame_duration_ns;
  const std::chrono::nanoseconds frame(known == 0 ? kUsualFrame : known);
  const std::chrono::nanoseconds longest = may_wait() ? kForEver : frame;
  std::optional<Turns::Turn> turn = place_->take(live_.priority, longest);
  if (!turn && shared_.fifo.flow() != GST_FLOW_OK) {
    throw npu::Error(npu::ErrorCode::kCancelled, "the stream stopped before its turn");
  }
  return turn;
}

/// When the device has no room for the frame's memory: releases what idle requests are bound to,
/// then waits for the frames in the NPU, one after the other.
void Stream::find_memory(FrameInput& input) {
  input.find_memory();
  bool may_get_room = true;
  while (input.needs_room() && may_get_room) {
    const guint64 done = shared_.fifo.frames_done();
    opened_->source().drop_idle_requests();
    input.find_memory();
    may_get_room = input.needs_room() && shared_.fifo.wait_for_frame_done(done);
  }
}

BoundPlanes Stream::bind_or_copy(FrameInput& input, std::shared_ptr<Graph>& graph) {
  const bool may_be_bound = input.may_be_bound();
  std::optional<npu::FrameLayout> copy;  // its layout, where the frame is copied: it allocates
  if (!may_be_bound) {
    copy = input.layout_of_copy();
  }
  const npu::FrameLayout& layout = copy ? *copy : input.layout();
  std::shared_ptr<Graph> known = opened_->source().find(layout);
  if (!known) {
    const CopyCause cause = too_many_sizes(input, layout);
    if (cause != CopyCause::kNone) return scale(input, cause, graph);
  }
  note_layout(layout, may_be_bound);
  if (may_be_bound) {
    graph = graph_for(layout, std::move(known));
    if (!graph) return {};
    if (std::optional<BoundPlanes> bound = input.bind(*graph)) return std::move(*bound);
    copy = input.layout_of_copy();
    known = opened_->source().find(*copy);
  }
  check_copy(input.cause(), input.detail());
  graph = graph_for(*copy, std::move(known));
  return graph ? input.copy(*graph) : BoundPlanes{};
}

std::shared_ptr<Graph> Stream::graph_for(const npu::FrameLayout& layout) {
  return graph_for(layout, opened_->source().find(layout));
}

std::shared_ptr<Graph> Stream::graph_for(const npu::FrameLayout& layout,
                                         std::shared_ptr<Graph> known) {
  if (known) return graph_ = std::move(known);
  if (compiling_ && !compiling_->serves(layout)) {
    compiling_.reset();
  }
  if (!compiling_) {
    compiling_.emplace(opened_->source().start(layout), pads_.element);
  }
  try {
    std::shared_ptr<Graph> graph = may_wait() ? compiling_->get_unless_stopped(shared_.fifo)
                                              : compiling_->get(std::chrono::milliseconds(0));
    if (graph) {
      compiling_.reset();
      graph_ = graph;
    }
    return graph;
  } catch (...) {
    compiling_.reset();
    throw;
  }
}

/// A live stream that may drop frames does not wait for a compilation, nor for other streams'
/// turns.
bool Stream::may_wait() const {
  return live_.drop == Drop::kNone || !shared_.upstream_is_live;
}

/// Throws CopyRefused where copies are not allowed.
void Stream::check_copy(CopyCause cause, const std::string& detail) const {
  if (live_.zero_copy_required) throw CopyRefused(reason_of(cause, detail));
}

std::string Stream::reason_of(CopyCause cause, const std::string& detail) const {
  std::string text = std::string(explain(cause)) + (detail.empty() ? "" : ": " + detail);
  const std::string tiles = refusals_.tiles_beside();
  if (cause == CopyCause::kOrdinaryMemory && !tiles.empty()) {
    text += ". Upstream has DMA-BUFs too, but " + cure_of_tiles(tiles);
  }
  return text;
}

void Stream::note_copy(CopyCause cause, const std::string& reason, gsize bytes) {
  const bool is_new = shared_.stats.count_copy(cause, bytes, reason);
  if (is_new && cause != CopyCause::kRegion) {  // the user asked for regions
    post_warning(pads_.element, "frames are copied before the NPU reads them: " + reason);
  }
}

}  // namespace gstnpu
