// npupublish: a bin around GStreamer's identity, whose frames it publishes. Where nothing is linked
// behind, it ends in a fakesink, which has the preroll, the steps and the end of stream of a sink.
#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <utility>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"

#include "stream.hpp"

namespace gstnpu {
namespace {

using ElementRef = ObjectRef<GstElement>;

/// State of an instance: the parts of the bin, which owns them, and the stream.
class Publish {
 public:
  Publish(GstBin* bin, GstBinClass*);

  PublishSettings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    change(settings_);
  }
  /// The property "stats"; the caller frees it.
  GstStructure* stats() const;

  /// Before PAUSED. False: an error was posted.
  bool start();
  /// Behind PAUSED.
  void stop();
  /// Before its pads stop: a frame that waits for room would hold them up.
  void refuse_lines() { stream_->publisher().refuse(); }
  /// Something was linked behind: the sink goes when no frame is on its way to it.
  void give_up_sink();
  /// Null while something is linked behind.
  ElementRef sink() const { return ElementRef(gst_bin_get_by_name(GST_BIN(element_), "sink")); }

  GstPadProbeReturn take(GstPadProbeInfo* info);

 private:
  ObjectRef<GstPad> filter_pad(const char* name) const {
    return ObjectRef<GstPad>(gst_element_get_static_pad(filter_, name));
  }
  GstPad* add_ghost(const char* name);
  void add_sink();
  void remove_sink();
  bool call(const auto& work);

  GstElement* const element_;
  GstElement* const filter_;
  GstPad* src_ = nullptr;

  mutable std::mutex mutex_;  // guards the settings, and stream_ from being replaced
  PublishSettings settings_;
  std::unique_ptr<PublishStream> stream_;  // the last one, for its counts, when it has stopped
};

using Type = ObjectType<GstBin, GstBinClass, Publish>;

Publish::Publish(GstBin* bin, GstBinClass*)
    : element_(GST_ELEMENT(bin)), filter_(gst_element_factory_make("identity", "filter")) {
  g_object_set(filter_, "signal-handoffs", FALSE, nullptr);
  gst_bin_add(bin, filter_);
  add_ghost("sink");
  src_ = add_ghost("src");
  const auto linked =
      +[](GstPad*, GstPad*, gpointer self) { static_cast<Publish*>(self)->give_up_sink(); };
  const auto take_data = +[](GstPad*, GstPadProbeInfo* info, gpointer self) {
    return static_cast<Publish*>(self)->take(info);
  };
  g_signal_connect(src_, "linked", G_CALLBACK(linked), this);
  gst_pad_add_probe(
      filter_pad("sink").get(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
      take_data, this, nullptr);
}

GstPad* Publish::add_ghost(const char* name) {
  GstPad* ghost = gst_ghost_pad_new(name, filter_pad(name).get());
  gst_element_add_pad(element_, ghost);
  return ghost;
}

// ---- The end of a pipeline

void Publish::add_sink() {
  GstElement* sink = gst_element_factory_make("fakesink", "sink");
  g_object_set(sink, "enable-last-sample", FALSE, nullptr);
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), nullptr);
  gst_bin_add(GST_BIN(element_), sink);
  gst_element_link(filter_, sink);
}

void Publish::remove_sink() {
  const ElementRef sink = this->sink();
  if (!sink) return;
  gst_element_unlink(filter_, sink.get());
  gst_element_set_locked_state(sink.get(), TRUE);
  gst_element_set_state(sink.get(), GST_STATE_NULL);
  gst_bin_remove(GST_BIN(element_), sink.get());
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), filter_pad("src").get());
}

/// A frame that waits in the sink for PLAYING is let go first.
void Publish::give_up_sink() {
  const ElementRef sink = this->sink();
  if (!sink) return;
  gst_element_set_locked_state(sink.get(), TRUE);
  gst_element_set_state(sink.get(), GST_STATE_PLAYING);
  gst_pad_add_probe(
      filter_pad("src").get(), GST_PAD_PROBE_TYPE_IDLE,
      [](GstPad*, GstPadProbeInfo*, gpointer element) {
        Type::state_of(element).remove_sink();
        return GST_PAD_PROBE_REMOVE;
      },
      gst_object_ref(element_), gst_object_unref);
}

// ---- From READY to PAUSED and back

/// False: `work` has thrown, and an error was posted.
bool Publish::call(const auto& work) {
  try {
    work();
    return true;
  } catch (...) {
    post_publish_error(element_);
    return false;
  }
}

bool Publish::start() {
  remove_sink();  // a start that failed leaves it behind
  if (!gst_pad_is_linked(src_)) {
    add_sink();
  }
  return call([this] {
    auto stream = std::make_unique<PublishStream>(element_, settings());
    const std::scoped_lock lock(mutex_);
    stream_.swap(stream);
  });
}

void Publish::stop() {
  call([this] { stream_->stop(); });
  remove_sink();
}

GstStructure* Publish::stats() const {
  const std::scoped_lock lock(mutex_);
  const Publisher::Stats stats = stream_ ? stream_->publisher().stats() : Publisher::Stats();
  return gst_structure_new("stats", "published", G_TYPE_UINT64, stats.published, "dropped",
                           G_TYPE_UINT64, stats.dropped, "failed", G_TYPE_UINT64, stats.failed,
                           "queued", G_TYPE_UINT64, stats.queued, nullptr);
}

// ---- The streaming thread

GstPadProbeReturn Publish::take(GstPadProbeInfo* info) {
  if (!stream_) return GST_PAD_PROBE_OK;
  if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) == 0) {
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    call([&] { stream_->follow(event); });
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
      g_object_notify(G_OBJECT(element_), "stats");  // gst-launch-1.0 -v prints it
    }
    return GST_PAD_PROBE_OK;
  }
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstFlowReturn flow = GST_FLOW_ERROR;
  call([&] { flow = stream_->publish(buffer) ? GST_FLOW_OK : GST_FLOW_FLUSHING; });
  if (flow == GST_FLOW_OK) return GST_PAD_PROBE_OK;
  gst_buffer_unref(buffer);
  GST_PAD_PROBE_INFO_DATA(info) = nullptr;
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = flow;
  return GST_PAD_PROBE_HANDLED;
}

// ---- Class

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  Publish& publish = Type::state_of(element);
  const bool starts = transition == GST_STATE_CHANGE_READY_TO_PAUSED;
  const bool stops = transition == GST_STATE_CHANGE_PAUSED_TO_READY;
  if (starts && !publish.start()) return GST_STATE_CHANGE_FAILURE;
  if (stops) {
    publish.refuse_lines();  // the frame on its way is waited for below
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(Type::parent_class())->change_state(element, transition);
  if (stops || (starts && result == GST_STATE_CHANGE_FAILURE)) {
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

constexpr GEnumValue kPolicies[] = {
    {static_cast<gint>(PublishPolicy::kBlock), "Frames wait for room; a failure is an error",
     "block"},
    {static_cast<gint>(PublishPolicy::kDropOld), "The oldest line is dropped", "drop-old"},
    {static_cast<gint>(PublishPolicy::kDropNew), "The new line is dropped", "drop-new"},
    {0, nullptr, nullptr}};
constexpr GEnumValue kFormats[] = {
    {static_cast<gint>(PublishFormat::kNpu), "As docs/json.md describes it", "npu"},
    {static_cast<gint>(PublishFormat::kDlstreamer), "As DL Streamer's gvametaconvert",
     "dlstreamer"},
    {0, nullptr, nullptr}};

template <auto member>
Property<Publish> text(const char* name, const char* nick, const char* blurb) {
  return property<Publish, member>(g_param_spec_string(name, nick, blurb, "", kUntilReady));
}
template <auto member>
Property<Publish> flag(const char* name, const char* nick, const char* blurb) {
  return property<Publish, member>(g_param_spec_boolean(name, nick, blurb, FALSE, kUntilReady));
}

std::vector<Property<Publish>> properties() {
  using P = Publish;
  using S = PublishSettings;
  const S usual;
  return {
      text<&S::location>("location", "Location",
                         "File, fd:NUMBER, unix:PATH, tcp://HOST:PORT, mqtt[s]://HOST[:PORT]/TOPIC "
                         "or kafka://HOST[:PORT],.../TOPIC; empty: stdout"),
      property<P, &S::policy>(g_param_spec_enum(
          "policy", "Policy", "What happens without room for a line, or on failure",
          enum_type<kPolicies>("NpuPublishPolicy"), static_cast<gint>(usual.policy), kUntilReady)),
      property<P, &S::queue_size>(g_param_spec_uint("queue-size", "Queue size",
                                                    "Lines that may wait", 1, 1000000,
                                                    usual.queue_size, kUntilReady)),
      property<P, &S::drain_time_ms>(g_param_spec_uint(
          "drain-time", "Drain time", "Milliseconds that a stop waits for lines to get out", 0,
          3600000, usual.drain_time_ms, kUntilReady)),
      text<&S::stream_id>("stream-id", "Stream id", "Adds \"stream\", its name; empty: none"),
      flag<&S::wall_clock>("wall-clock", "Wall clock", "Add \"time\", when the frame was taken"),
      flag<&S::tensors>("tensors", "Tensors", "Add name, type and shape of each tensor"),
      property<P, &S::format>(g_param_spec_enum(
          "format", "Format", "What a frame's JSON looks like",
          enum_type<kFormats>("NpuPublishFormat"), static_cast<gint>(usual.format), kUntilReady)),
      flag<&S::append>("append", "Append", "Add to what the file holds"),
      text<&S::broker_config>("broker-config", "Broker configuration",
                              "KEY=VALUE,... by the names of mosquitto_pub or librdkafka"),
      text<&S::broker_config_file>("broker-config-file", "Broker configuration file",
                                   "File of KEY=VALUE lines, for secrets"),
      {g_param_spec_boxed("stats", "Statistics", "Lines: published, dropped, failed, queued",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr, [](const P& state, GValue* value) { g_value_take_boxed(value, state.stats()); }},
  };
}

void class_init(GstBinClass* klass) {
  Properties<Type, properties>::install(klass);
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
