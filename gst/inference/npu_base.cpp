#include "npu_base.hpp"

#include "common/log.hpp"
#include "common/properties.hpp"
#include "frames/caps.hpp"
#include "graphs/tensor_stream.hpp"

namespace gstnpu {
namespace {

constexpr GEnumValue kZeroCopyChoices[] = {
    {false, "Copy a frame that the NPU cannot read in place; one warning per reason", "auto"},
    {true, "Stop with an error instead of the first copy; it gives the reason and the cure",
     "require"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kDropChoices[] = {
    {static_cast<gint>(Drop::kNone),
     "Infer every frame; hold upstream back where the NPU is slower", "none"},
    {static_cast<gint>(Drop::kLate),
     "Drop frames whose result would come too late for the sink, by the pipeline's latency and the "
     "sink's QoS events",
     "late"},
    {static_cast<gint>(Drop::kBusy),
     "Drop a live source's frames that come while the NPU runs one and another one waits", "busy"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kErrorChoices[] = {
    {static_cast<gint>(OnError::kFail), "An error ends the stream", "fail"},
    {static_cast<gint>(OnError::kPass),
     "Frames pass without tensors, counted as \"lost\", while each tries the NPU again", "pass"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kRegionChoices[] = {
    {static_cast<gint>(InferenceRegion::kFullFrame), "One inference of the whole frame",
     "full-frame"},
    {static_cast<gint>(InferenceRegion::kRoiList),
     "One inference of each object that was found upstream; the CPU crops and scales it",
     "roi-list"},
    {0, nullptr, nullptr},
};

constexpr GEnumValue kOutputChoices[] = {
    {0, "The frames, with tensors as their metadata", "video"},
    {1, "Tensors alone, as NNStreamer's other/tensors", "nnstreamer"},
    {0, nullptr, nullptr},
};

/// Properties that may change while a stream plays.
std::vector<Property<BaseElement>> live_properties() {
  using E = BaseElement;
  return {
      {g_param_spec_string("model", "Model",
                           "File of the model; while a stream plays the new model is made ready "
                           "beside the old one and takes over between two frames",
                           nullptr, kWhilePlaying),
       [](E& element, const GValue* value) { element.change_model(g_value_get_string(value)); },
       [](const E& element, GValue* value) { write(element.model(), value); }},
      property<E, &Settings::priority>(
          g_param_spec_uint("priority", "Priority",
                            "Of this stream among those of its model-instance-id: higher ones have "
                            "their turn first",
                            0, G_MAXUINT, 0, kWhilePlaying)),
      property<E, &Settings::inference_interval>(
          g_param_spec_uint("inference-interval", "Inference interval",
                            "Infer every Nth frame; the others pass in order, without tensors", 1,
                            G_MAXUINT, 1, kWhilePlaying)),
      property<E, &Settings::roi_interval>(g_param_spec_uint(
          "roi-interval", "Region interval",
          "With inference-region=roi-list: infer an object again only every Nth frame, by its "
          "tracking id where it has one, else every Nth frame",
          1, G_MAXUINT, 1, kWhilePlaying)),
      property<E, &Settings::zero_copy_required>(
          g_param_spec_enum("zero-copy", "Zero copy",
                            "What happens to a frame that the NPU cannot read in place; \"stats\" "
                            "counts both kinds",
                            enum_type<kZeroCopyChoices>("NpuZeroCopy"), false, kWhilePlaying)),
      property<E, &Settings::drop>(g_param_spec_enum(
          "drop", "Drop", "Which frames are dropped where the NPU is slower than the stream",
          enum_type<kDropChoices>("NpuDrop"), static_cast<gint>(Drop::kNone), kWhilePlaying)),
      property<E, &Settings::on_error>(g_param_spec_enum(
          "on-error", "On error", "What happens when the NPU was lost several times in a row",
          enum_type<kErrorChoices>("NpuOnError"), static_cast<gint>(OnError::kFail),
          kWhilePlaying)),
      property<E, &Settings::stats_interval_ms>(
          g_param_spec_uint("stats-interval", "Statistics interval",
                            "Milliseconds from one element message \"npu-stats\" with \"stats\" to "
                            "the next, while frames "
                            "come, and one at the end of the stream; 0: none",
                            0, G_MAXUINT, 0, kWhilePlaying)),
  };
}

std::vector<Property<BaseElement>> lasting_properties() {
  using E = BaseElement;
  return {
      property<E, &Settings::device>(g_param_spec_string(
          "device", "Device",
          "auto: a real NPU, else the software NPU with a warning; npu: a real NPU "
          "or an error; software: the software NPU; or an NPU's PCI address or UUID",
          "auto", kUntilReady)),
      property<E, &Settings::model_instance_id>(g_param_spec_string(
          "model-instance-id", "Model instance",
          "Elements of this process with the same one compile the model once and take turns at the "
          "device; empty: this element has it alone",
          nullptr, kUntilReady)),
      {g_param_spec_string("device-name", "Device name",
                           "Name of the opened device, from its driver; empty before READY",
                           nullptr, kReadOnly),
       nullptr, [](const E& element, GValue* value) { write(element.device_name(), value); }},
      property<E, &Settings::nireq>(g_param_spec_uint(
          "nireq", "Inference requests",
          "Most frames in flight; 0: four, two of them at the device where streams share a model",
          0, 64, 0, kUntilReady)),
      property<E, &Settings::region>(
          g_param_spec_enum("inference-region", "Inference region", "What of a frame is inferred",
                            enum_type<kRegionChoices>("NpuInferenceRegion"),
                            static_cast<gint>(InferenceRegion::kFullFrame), kUntilReady)),
      property<E, &Settings::gives_tensors>(g_param_spec_enum(
          "output-format", "Output format", "What goes out: frames with tensors, or tensors alone",
          enum_type<kOutputChoices>("NpuOutputFormat"), false, kUntilReady)),
      property<E, &Settings::object_class>(g_param_spec_string(
          "object-class", "Object class",
          "With inference-region=roi-list: only objects with this label, or one of several that "
          "commas separate; empty: every object",
          nullptr, kUntilReady)),
      property<E, &Settings::config>(g_param_spec_string(
          "config", "Compiler configuration",
          "Options for the driver's compiler, KEY=VALUE,KEY=VALUE", nullptr, kUntilReady)),
      property<E, &Settings::properties>(g_param_spec_string(
          "properties", "Properties",
          "Properties of npucore, KEY=VALUE KEY=\"VALUE WITH BLANKS\"; npu-info "
          "--properties lists them",
          nullptr, kUntilReady)),
      {g_param_spec_boxed("stats", "Statistics",
                          "Frames, how their memory was read, times in nanoseconds",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const E& element, GValue* value) {
         g_value_take_boxed(value, to_structure(element.stats()));
       }},
  };
}

std::vector<Property<BaseElement>> properties() {
  std::vector<Property<BaseElement>> rows = lasting_properties();
  const auto live = live_properties();
  rows.insert(rows.end(), live.begin(), live.end());
  return rows;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  Element& impl = NpuBase::state_of(element);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !impl.open()) return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !impl.start_stream()) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      NpuBase::parent_class()->parent_class.change_state(element, transition);
  const bool failed = result == GST_STATE_CHANGE_FAILURE;
  const bool ended = transition == GST_STATE_CHANGE_PAUSED_TO_READY && !failed;
  const bool not_begun = transition == GST_STATE_CHANGE_READY_TO_PAUSED && failed;
  if (ended || not_begun) {
    impl.end_stream();
  }
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    impl.close();
  }
  return result;
}

// ---- Pads

Element& element_of(gpointer object) {
  return NpuBase::state_of(object);
}

GstFlowReturn sink_chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  return element_of(parent).chain(BufferRef(buffer));
}

GstPadProbeReturn look_at_caps(GstPad*, GstPadProbeInfo* info, gpointer base) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    element_of(base).look_at_caps(caps);
  }
  return GST_PAD_PROBE_OK;
}

GstFlowReturn sink_event(GstPad*, GstObject* parent, GstEvent* event) {
  return element_of(parent).sink_event(EventRef(event));
}

gboolean src_event(GstPad*, GstObject* parent, GstEvent* event) {
  return element_of(parent).src_event(EventRef(event));
}

template <gboolean (Element::*answer)(GstQuery*)>
gboolean answer_query(GstPad*, GstObject* parent, GstQuery* query) {
  return (element_of(parent).*answer)(query);
}

template <gboolean (Element::*activate_pad)(bool)>
gboolean activate(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  return mode == GST_PAD_MODE_PUSH && (element_of(parent).*activate_pad)(active);
}

GstPad* add_pad(GstElement* element, GstNpuBaseClass* klass, const char* name) {
  GstPadTemplate* pad_template = gst_element_class_get_pad_template(&klass->parent_class, name);
  GstPad* pad = gst_pad_new_from_template(pad_template, name);
  gst_element_add_pad(element, pad);
  return pad;
}

GstPad* add_sink(GstElement* element, GstNpuBaseClass* klass) {
  GstPad* sink = add_pad(element, klass, "sink");
  gst_pad_set_chain_function(sink, sink_chain);
  gst_pad_set_event_full_function(sink, sink_event);
  gst_pad_set_query_function(sink, answer_query<&Element::sink_query>);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_caps, element, nullptr);
  gst_pad_set_activatemode_function(sink, activate<&Element::activate_sink>);
  return sink;
}

GstPad* add_src(GstElement* element, GstNpuBaseClass* klass) {
  GstPad* src = add_pad(element, klass, "src");
  gst_pad_set_event_function(src, src_event);
  gst_pad_set_query_function(src, answer_query<&Element::src_query>);
  gst_pad_set_activatemode_function(src, activate<&Element::activate_src>);
  return src;
}

// ---- Class

/// Action signal for programs; does what setting the property does.
void change_model(GstElement* element, const gchar* file) {
  element_of(element).change_model(file);
}

void class_init(GstNpuBaseClass* klass) {
  set_up_log();
  g_signal_new_class_handler("change-model", G_TYPE_FROM_CLASS(klass),
                             static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
                             G_CALLBACK(change_model), nullptr, nullptr, nullptr, G_TYPE_NONE, 1,
                             G_TYPE_STRING);
  klass->parent_class.change_state = change_state;
  Properties<NpuBase, properties>::install(klass);
  const CapsRef caps = template_caps();
  const CapsRef with_tensors(
      gst_caps_merge(gst_caps_copy(caps.get()), any_tensor_caps().release()));
  gst_element_class_add_pad_template(
      &klass->parent_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps.get()));
  gst_element_class_add_pad_template(
      &klass->parent_class,
      gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, with_tensors.get()));
}

}  // namespace

BaseElement::BaseElement(GstElement* element, GstNpuBaseClass* klass)
    : Element({element, add_sink(element, klass), add_src(element, klass)}, klass->open_source) {}

GType npu_base_type() {
  return NpuBase::get<class_init>("GstNpuBase", GST_TYPE_ELEMENT, G_TYPE_FLAG_ABSTRACT);
}

}  // namespace gstnpu
