#include "element.hpp"

#include <gst/video/gstvideometa.h>

#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"
#include "common/upstream.hpp"
#include "frames/caps.hpp"
#include "graphs/tensor_stream.hpp"

namespace gstnpu {
namespace {

void tell_about_model(GstElement* element, const Opened& opened) {
  for (const std::string& warning : opened.warnings()) post_warning(element, warning);
  for (const std::string& repair : opened.repairs()) post_info(element, repair);
}

}  // namespace

// ---- Properties

Settings Element::settings() const {
  const std::scoped_lock lock(settings_mutex_);
  return settings_;
}

void Element::change_settings(const std::function<void(Settings&)>& change) {
  const std::scoped_lock lock(settings_mutex_);
  change(settings_);
}

void Element::change_model(const char* file) {
  change_settings([file](Settings& settings) { settings.model = file ? file : ""; });
  if (stream()) {
    begin_replacement();
  }
}

std::string Element::model() const {
  const Alive alive = this->alive();
  return alive.stream ? alive.opened->model_file() : settings().model;
}

StatsReport Element::stats() const {
  Alive alive;
  StatsReport report;
  {
    const std::scoped_lock lock(alive_mutex_);
    alive = alive_;
    report = last_report_;
  }
  if (alive.stream) {
    report = alive.stream->report();
  }
  if (alive.opened) {
    alive.opened->describe(report);
  }
  return report;
}

std::string Element::device_name() const {
  const std::shared_ptr<const Opened> opened = alive().opened;
  return opened ? opened->device().info().name : std::string();
}

// ---- States

Element::Alive Element::alive() const {
  const std::scoped_lock lock(alive_mutex_);
  return alive_;
}

bool Element::open() {
  const Settings settings = this->settings();
  try {
    auto opened = std::make_shared<Opened>(settings, open_source_);
    tell_about(*opened);
    const std::scoped_lock lock(alive_mutex_);
    alive_.opened = std::move(opened);
    return true;
  } catch (const std::exception& error) {
    post_error(pads_.element, error, settings.model);
    return false;
  }
}

void Element::tell_about(const Opened& opened) {
  const bool chose_software =
      opened.device().info().is_software && opened.settings().device == "auto";
  if (chose_software && !std::exchange(told_software_, true)) {
    post_warning(pads_.element, "no NPU was found, so the software NPU runs " +
                                    opened.model_file() +
                                    " on the CPU; npu-info shows what is missing, device=software "
                                    "silences this warning");
  }
  tell_about_model(pads_.element, opened);
}

bool Element::start_stream() {
  const Settings wanted = settings();  // properties may have changed in READY
  const auto is_open = [&] {
    const std::shared_ptr<const Opened> opened = alive().opened;  // null after a start that failed
    return opened && wanted.opens_like(opened->settings());
  };
  if (!is_open()) {
    close();
    if (!open()) return false;
  }
  auto stream = std::make_shared<Stream>(pads_, alive().opened, wanted.requests(), settings_);
  if (wanted.preload && !preload(*stream)) return false;
  {
    const std::scoped_lock lock(alive_mutex_);
    alive_.stream = std::move(stream);
  }
  begin_replacement();  // another model may have been set meanwhile
  return true;
}

bool Element::preload(Stream& stream) {
  try {
    stream.preload();
    return true;
  } catch (const std::exception& error) {
    post_error(pads_.element, error, alive().opened->model_file());
    return false;
  }
}

void Element::end_stream() {
  const std::shared_ptr<Stream> ended = stream();
  if (!ended) return;
  ended->end();
  StatsReport report = stats();
  {
    const std::scoped_lock lock(alive_mutex_);
    last_report_ = std::move(report);
    alive_.stream.reset();
  }
  end_replacement();  // no replacement begins without a stream
}

void Element::close() {
  StatsReport report = stats();
  Alive closed;  // freed outside the lock
  const std::scoped_lock lock(alive_mutex_);
  last_report_ = std::move(report);
  closed = std::exchange(alive_, {});
}

// ---- Another model while a stream plays

/// The model that was set last wins.
void Element::begin_replacement() {
  std::unique_ptr<Replacement> former;  // ends outside the lock
  const std::scoped_lock lock(replacement_mutex_);
  Settings wanted = settings();
  const Alive alive = this->alive();
  former = std::move(replacement_);
  if (alive.stream && wanted.model != alive.opened->model_file()) {
    wanted.model_instance_id = alive.opened->settings().model_instance_id;  // keeps its turns
    replacement_ =
        std::make_unique<Replacement>(pads_.element, open_source_, wanted, alive.stream->layout());
  }
  replaces_ = replacement_ != nullptr;
}

/// The next stream begins with the model that was set, unless that one is known to fail.
void Element::end_replacement() {
  std::unique_ptr<Replacement> ended;
  {
    const std::scoped_lock lock(replacement_mutex_);
    ended = std::move(replacement_);
    replaces_ = false;
  }
  if (ended && ended->state() == Replacement::State::kFailed) {
    keep_model(ended->model_file());
  }
}

/// Called between two frames.
void Element::adopt_replacement() {
  std::unique_ptr<Replacement> ended;  // freed outside the lock
  {
    const std::scoped_lock lock(replacement_mutex_);
    if (!replacement_ || replacement_->state() == Replacement::State::kWorking) return;
    ended = std::move(replacement_);
    replaces_ = false;
  }
  if (ended->state() == Replacement::State::kFailed) return keep_model(ended->model_file());
  const Alive alive = this->alive();
  if (!alive.stream) return;
  const std::string previous = alive.opened->model_file();
  try {
    alive.stream->change_model(ended->opened());
  } catch (const npu::Error& error) {
    tell_model_kept(pads_.element, ended->model_file(), error.what());
    return keep_model(ended->model_file());
  }
  {
    std::shared_ptr<Opened> next = ended->opened();
    const std::scoped_lock lock(alive_mutex_);
    alive_.opened.swap(next);  // the former one is freed outside the lock
  }
  tell_about_model(pads_.element, *ended->opened());
  tell_model_changed(pads_.element, previous, ended->model_file());
  g_object_notify(G_OBJECT(pads_.element), "model");
}

/// Sets the property back to the model that runs, unless yet another model was set meanwhile.
void Element::keep_model(const std::string& instead_of) {
  const std::shared_ptr<const Opened> opened = alive().opened;
  const std::scoped_lock lock(settings_mutex_);
  if (opened && settings_.model == instead_of) {
    settings_.model = opened->model_file();
  }
}

// ---- Sink pad

gboolean Element::activate_sink(bool active) {
  const auto stream = this->stream();
  if (stream && !active) {
    stream->refuse_input();
  }
  return !active || stream;
}

void Element::look_at_caps(const GstCaps* caps) {
  if (const auto stream = this->stream()) {
    stream->look_at_caps(caps);
  }
}

GstFlowReturn Element::chain(BufferRef buffer) {
  if (replaces_) {
    adopt_replacement();
  }
  const auto stream = this->stream();
  return stream ? stream->chain(std::move(buffer)) : GST_FLOW_FLUSHING;
}

GstFlowReturn Element::sink_event(EventRef event) {
  const auto stream = this->stream();
  return stream ? stream->sink_event(std::move(event)) : GST_FLOW_FLUSHING;
}

/// The caps that were sent, if nothing of this query for caps is taken; null if something is.
CapsRef Element::refused_for_good(GstQuery* query) const {
  GstCaps* offered = nullptr;
  GstCaps* answer = nullptr;
  gst_query_parse_caps(query, &offered);
  gst_query_parse_caps_result(query, &answer);
  if (!offered || !gst_caps_is_empty(answer)) return nullptr;
  return sent_for_good(pads_.sink, offered);
}

gboolean Element::sink_query(GstQuery* query) {
  const Alive alive = this->alive();
  const Negotiation negotiation(alive.opened);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      negotiation.answer_caps(pads_.src, query);
      if (alive.stream) {
        alive.stream->note_offer(negotiation.judge_offer(query, pads_.src));
        if (const CapsRef sent = refused_for_good(query)) {
          alive.stream->note_trial(negotiation.refusal_of(sent.get(), pads_.src), true);
        }
      }
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      if (!negotiation.answer_accept_caps(pads_.src, query) && alive.stream) {
        GstCaps* caps = nullptr;
        gst_query_parse_accept_caps(query, &caps);
        alive.stream->note_trial(negotiation.refusal_of(caps, pads_.src),
                                 sent_for_good(pads_.sink, caps) != nullptr);
      }
      return TRUE;
    case GST_QUERY_ALLOCATION:
      return negotiation.answer_allocation(query, passes_crops(alive, query));
    default:
      if (gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) {
        return alive.stream && alive.stream->wait_drained() && gst_pad_peer_query(pads_.src, query);
      }
      return gst_pad_query_default(pads_.sink, GST_OBJECT(pads_.element), query);
  }
}

/// Frames keep their crop metadata, so downstream must know GstVideoCropMeta or it would show what
/// was cut off. Downstream is asked once it has the caps. Where nobody answers (sinks that look at
/// no pixels), upstream crops frames in ordinary memory itself; with DMABuf caps it has nothing but
/// the metadata.
bool Element::passes_crops(const Alive& alive, GstQuery* query) const {
  if (!alive.stream) return false;
  if (alive.opened->settings().gives_tensors) return true;
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps || !alive.stream->wait_drained()) return false;
  const QueryRef asked(gst_query_new_allocation(caps, FALSE));
  if (!gst_pad_peer_query(pads_.src, asked.get())) return has_dmabuf_feature(caps);
  return gst_query_find_allocation_meta(asked.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
}

// ---- Source pad

gboolean Element::activate_src(bool active) {
  const auto stream = this->stream();
  return stream ? stream->activate_src(active) : !active;
}

gboolean Element::src_event(EventRef event) {
  const auto stream = this->stream();
  if (stream) {
    stream->src_event(event.get());
  }
  return gst_pad_event_default(pads_.src, GST_OBJECT(pads_.element), event.release());
}

gboolean Element::src_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      if (gives_tensors()) return answer_tensor_caps(query);
      Negotiation(alive().opened).answer_caps(pads_.sink, query);
      return TRUE;
    case GST_QUERY_LATENCY:
      return answer_latency(query);
    default:
      return gst_pad_query_default(pads_.src, GST_OBJECT(pads_.element), query);
  }
}

/// A stream keeps the setting that it began with.
bool Element::gives_tensors() const {
  const Alive alive = this->alive();
  return alive.stream ? alive.opened->settings().gives_tensors : settings().gives_tensors;
}

/// The caps that were announced, else any.
gboolean Element::answer_tensor_caps(GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  CapsRef caps(gst_pad_get_current_caps(pads_.src));
  if (!caps) {
    caps = any_tensor_caps();
  }
  if (filter) {
    caps.reset(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
  }
  gst_query_set_caps_result(query, caps.get());
  return TRUE;
}

gboolean Element::answer_latency(GstQuery* query) {
  if (!gst_pad_peer_query(pads_.sink, query)) return FALSE;
  if (const auto stream = this->stream()) {
    stream->add_latency(query);
  }
  return TRUE;
}

}  // namespace gstnpu
