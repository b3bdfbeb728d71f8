// npupublish: a bin around GStreamer's identity, whose frames it publishes. Where nothing is linked
// behind, it ends in a fakesink, which has the preroll, the steps and the end of stream of a sink.
#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <utility>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/refs.hpp"

#include "properties.hpp"
#include "stream.hpp"

namespace gstnpu {
namespace {

using ElementRef = ObjectRef<GstElement>;

/// State of an instance: the parts of the bin, which owns them, and the stream.
class Publish final : public PublishState {
 public:
  Publish(GstBin* bin, GstBinClass*);

  /// Before PAUSED. False: an error was posted.
  bool start();
  void refuse();
  /// Behind PAUSED.
  void stop();
  /// Something was linked behind: the sink goes when no frame is on its way to it.
  void give_up_sink();
  ElementRef sink() const;

  GstPadProbeReturn take(GstPadProbeInfo* info);
  Publisher::Stats stats() const override;

 private:
  GstPad* add_ghost(const char* name);
  bool add_sink();
  void remove_sink();
  GstPadProbeReturn publish(GstPadProbeInfo* info);
  void look_at(GstEvent* event);
  void tell_publisher(void (Publisher::*what)());
  void call(void (PublishStream::*work)());

  GstElement* const element_;
  ElementRef filter_;  // null: GStreamer has no identity
  GstPad* src_ = nullptr;

  mutable std::mutex mutex_;  // guards those below from being replaced
  ElementRef sink_;           // null while something is linked behind
  std::unique_ptr<PublishStream> stream_;
  Publisher::Stats last_stats_;  // of a stream that has ended
  std::string location_;         // of stream_
};

using Type = ObjectType<GstBin, GstBinClass, Publish>;

GstPadProbeReturn take_data(GstPad*, GstPadProbeInfo* info, gpointer self) {
  return static_cast<Publish*>(self)->take(info);
}

Publish::Publish(GstBin* bin, GstBinClass*) : element_(GST_ELEMENT(bin)) {
  GstElement* filter = gst_element_factory_make("identity", "filter");
  if (filter == nullptr) return;
  g_object_set(filter, "signal-handoffs", FALSE, nullptr);
  gst_bin_add(bin, filter);
  filter_.reset(GST_ELEMENT(gst_object_ref(filter)));
  add_ghost("sink");
  src_ = add_ghost("src");
  const auto linked =
      +[](GstPad*, GstPad*, gpointer self) { static_cast<Publish*>(self)->give_up_sink(); };
  g_signal_connect(src_, "linked", G_CALLBACK(linked), this);
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter, "sink"));
  gst_pad_add_probe(
      pad.get(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
      take_data, this, nullptr);
}

GstPad* Publish::add_ghost(const char* name) {
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter_.get(), name));
  GstPad* ghost = gst_ghost_pad_new(name, pad.get());
  gst_element_add_pad(element_, ghost);
  return ghost;
}

// ---- The end of a pipeline

ElementRef Publish::sink() const {
  const std::scoped_lock lock(mutex_);
  return ElementRef(sink_ ? GST_ELEMENT(gst_object_ref(sink_.get())) : nullptr);
}

bool Publish::add_sink() {
  GstElement* sink = gst_element_factory_make("fakesink", "sink");
  if (sink == nullptr) return false;
  g_object_set(sink, "enable-last-sample", FALSE, nullptr);
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), nullptr);
  gst_bin_add(GST_BIN(element_), sink);
  {
    const std::scoped_lock lock(mutex_);
    sink_.reset(GST_ELEMENT(gst_object_ref(sink)));
  }
  return gst_element_link(filter_.get(), sink) != 0;
}

void Publish::remove_sink() {
  ElementRef sink;
  {
    const std::scoped_lock lock(mutex_);
    sink.swap(sink_);
  }
  if (!sink) return;
  gst_element_unlink(filter_.get(), sink.get());
  gst_element_set_locked_state(sink.get(), TRUE);
  gst_element_set_state(sink.get(), GST_STATE_NULL);
  gst_bin_remove(GST_BIN(element_), sink.get());
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter_.get(), "src"));
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), pad.get());
}

/// A frame that waits in the sink for PLAYING is let go first.
void Publish::give_up_sink() {
  const ElementRef sink = this->sink();
  if (!sink) return;
  gst_element_set_locked_state(sink.get(), TRUE);
  gst_element_set_state(sink.get(), GST_STATE_PLAYING);
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter_.get(), "src"));
  gst_pad_add_probe(
      pad.get(), GST_PAD_PROBE_TYPE_IDLE,
      [](GstPad*, GstPadProbeInfo*, gpointer element) {
        Type::state_of(element).remove_sink();
        return GST_PAD_PROBE_REMOVE;
      },
      gst_object_ref(element_), gst_object_unref);
}

// ---- From READY to PAUSED and back

bool Publish::start() {
  remove_sink();  // a start that failed leaves it behind
  const bool is_whole = filter_ && (gst_pad_is_linked(src_) || add_sink());
  if (!is_whole) {
    GST_ELEMENT_ERROR(element_, CORE, MISSING_PLUGIN,
                      ("npupublish is made of identity and fakesink, which are not there. Install "
                       "GStreamer's core elements."),
                      (nullptr));
    return false;
  }
  PublishSettings now = settings();
  location_ = now.location;
  try {
    auto stream = std::make_unique<PublishStream>(element_, std::move(now));
    const std::scoped_lock lock(mutex_);
    last_stats_ = {};
    stream_.swap(stream);
    return true;
  } catch (...) {
    post_publish_error(element_, PublishStep::kOpen, location_);
    return false;
  }
}

/// The frame on its way is waited for before the stream stops.
void Publish::refuse() {
  tell_publisher(&Publisher::refuse);
}

void Publish::stop() {
  if (stream_) {
    call(&PublishStream::stop);
    std::unique_ptr<PublishStream> stream;
    const std::scoped_lock lock(mutex_);
    last_stats_ = stream_->publisher().stats();
    stream_.swap(stream);
  }
  remove_sink();
}

Publisher::Stats Publish::stats() const {
  const std::scoped_lock lock(mutex_);
  return stream_ ? stream_->publisher().stats() : last_stats_;
}

void Publish::tell_publisher(void (Publisher::*what)()) {
  const std::scoped_lock lock(mutex_);
  if (stream_) {
    (stream_->publisher().*what)();
  }
}

// ---- The streaming thread

/// Does `work`, and posts what it throws.
void Publish::call(void (PublishStream::*work)()) {
  try {
    (*stream_.*work)();
  } catch (...) {
    post_publish_error(element_, PublishStep::kWrite, location_);
  }
}

GstPadProbeReturn Publish::take(GstPadProbeInfo* info) {
  if (!stream_) return GST_PAD_PROBE_OK;
  if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) != 0) return publish(info);
  look_at(GST_PAD_PROBE_INFO_EVENT(info));
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn Publish::publish(GstPadProbeInfo* info) {
  GstFlowReturn flow = GST_FLOW_FLUSHING;
  try {
    if (stream_->publish(GST_PAD_PROBE_INFO_BUFFER(info))) return GST_PAD_PROBE_OK;
  } catch (...) {
    post_publish_error(element_, PublishStep::kWrite, location_);
    flow = GST_FLOW_ERROR;
  }
  gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = nullptr;
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = flow;
  return GST_PAD_PROBE_HANDLED;
}

void Publish::look_at(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      return stream_->set_caps(caps);
    }
    case GST_EVENT_SEGMENT: {
      const GstSegment* segment = nullptr;
      gst_event_parse_segment(event, &segment);
      return stream_->set_segment(*segment);
    }
    case GST_EVENT_EOS:
      call(&PublishStream::drain);
      return g_object_notify(G_OBJECT(element_), "stats");  // gst-launch-1.0 -v prints it
    case GST_EVENT_FLUSH_START:
      return tell_publisher(&Publisher::interrupt);
    case GST_EVENT_FLUSH_STOP:
      return tell_publisher(&Publisher::resume);
    default:
      return;
  }
}

// ---- Class

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  Publish& publish = Type::state_of(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !publish.start()) {
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    publish.refuse();
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(Type::parent_class())->change_state(element, transition);
  const bool has_failed =
      transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY || has_failed) {
    publish.stop();
  }
  return result;
}

/// GstBin asks its source pad, too, which leads nowhere, and answers for both.
gboolean send_event(GstElement* element, GstEvent* event) {
  const bool goes_up =
      (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_UPSTREAM) != 0;
  const ElementRef sink = goes_up ? Type::state_of(element).sink() : nullptr;
  return sink ? gst_element_send_event(sink.get(), event)
              : GST_ELEMENT_CLASS(Type::parent_class())->send_event(element, event);
}

void class_init(GstBinClass* klass) {
  Properties<Type, publish_properties>::install(klass);
  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  element_class->send_event = send_event;
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(element_class, "NPU result publisher", "Filter/Metadata",
                                        "Writes one JSON line per frame: time, model, detections",
                                        "npucore");
}

}  // namespace

gboolean register_npupublish(GstPlugin* plugin) {
  return gst_element_register(plugin, "npupublish", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuPublish", GST_TYPE_BIN));
}

}  // namespace gstnpu
