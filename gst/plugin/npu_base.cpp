#include "plugin/npu_base.hpp"

#include "plugin/caps.hpp"
#include "plugin/log.hpp"

namespace {

enum Property {
  kModel = 1,
  kDevice,
  kDeviceName,
  kRequests,
  kInferenceInterval,
  kZeroCopy,
  kConfig,
  kProperties,
  kStats,
};

constexpr auto kWritable =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kWritableWhilePlaying = static_cast<GParamFlags>(
    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kReadable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

enum ZeroCopyChoice { kZeroCopyAuto, kZeroCopyRequire };

GType zero_copy_get_type() {
  static const GEnumValue values[] = {
      {kZeroCopyAuto, "Copy a frame that the NPU cannot read in place; one warning per reason",
       "auto"},
      {kZeroCopyRequire, "Stop with an error instead of the first copy; it tells reason and cure",
       "require"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstNpuZeroCopy", values);
  return type;
}

gpointer parent_class = nullptr;

gstnpu::InferenceElement& impl_of(gpointer object) {
  return *static_cast<GstNpuBase*>(object)->impl;
}

std::string string_of(const GValue* value) {
  const gchar* text = g_value_get_string(value);
  return text ? text : "";
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  impl_of(object).change_settings([&](gstnpu::Settings& settings) {
    switch (id) {
      case kModel:
        settings.model = string_of(value);
        break;
      case kDevice:
        settings.device = string_of(value);
        break;
      case kRequests:
        settings.nireq = g_value_get_uint(value);
        break;
      case kInferenceInterval:
        settings.inference_interval = g_value_get_uint(value);
        break;
      case kZeroCopy:
        settings.zero_copy_required = g_value_get_enum(value) == kZeroCopyRequire;
        break;
      case kConfig:
        settings.config = string_of(value);
        break;
      case kProperties:
        settings.properties = string_of(value);
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
  });
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const gstnpu::Settings settings = impl_of(object).settings();
  switch (id) {
    case kModel:
      g_value_set_string(value, settings.model.c_str());
      break;
    case kDevice:
      g_value_set_string(value, settings.device.c_str());
      break;
    case kDeviceName:
      g_value_set_string(value, impl_of(object).device_name().c_str());
      break;
    case kRequests:
      g_value_set_uint(value, settings.nireq);
      break;
    case kInferenceInterval:
      g_value_set_uint(value, settings.inference_interval);
      break;
    case kZeroCopy:
      g_value_set_enum(value, settings.zero_copy_required ? kZeroCopyRequire : kZeroCopyAuto);
      break;
    case kConfig:
      g_value_set_string(value, settings.config.c_str());
      break;
    case kProperties:
      g_value_set_string(value, settings.properties.c_str());
      break;
    case kStats:
      g_value_take_boxed(value, impl_of(object).stats());
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  gstnpu::InferenceElement& impl = impl_of(element);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !impl.open()) return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !impl.prepare()) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) impl.stop();
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) impl.close();
  return result;
}

// ---- Pads

GstFlowReturn sink_chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  return impl_of(parent).chain(gstnpu::BufferRef(buffer));
}

GstPadProbeReturn look_at_caps(GstPad*, GstPadProbeInfo* info, gpointer base) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    impl_of(base).look_at_caps(caps);
  }
  return GST_PAD_PROBE_OK;
}

gboolean sink_event(GstPad*, GstObject* parent, GstEvent* event) {
  return impl_of(parent).sink_event(gstnpu::EventRef(event));
}

gboolean sink_query(GstPad*, GstObject* parent, GstQuery* query) {
  return impl_of(parent).sink_query(query);
}

gboolean src_query(GstPad*, GstObject* parent, GstQuery* query) {
  return impl_of(parent).src_query(query);
}

gboolean activate_sink(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  return mode == GST_PAD_MODE_PUSH && impl_of(parent).activate_sink(active);
}

gboolean activate_src(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  return mode == GST_PAD_MODE_PUSH && impl_of(parent).activate_src(active);
}

GstPad* add_pad(GstElement* element, gpointer klass, const char* name) {
  GstPadTemplate* pad_template =
      gst_element_class_get_pad_template(static_cast<GstElementClass*>(klass), name);
  GstPad* pad = gst_pad_new_from_template(pad_template, name);
  gst_element_add_pad(element, pad);
  return pad;
}

// ---- Class

void install_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kModel,
      g_param_spec_string("model", "Model", "File of the model", nullptr, kWritable));
  g_object_class_install_property(
      klass, kDevice,
      g_param_spec_string("device", "Device",
                          "auto: a real NPU, else the software NPU with a warning; npu: a real NPU "
                          "or an error; software: the software NPU",
                          "auto", kWritable));
  g_object_class_install_property(
      klass, kDeviceName,
      g_param_spec_string("device-name", "Device name",
                          "The device that was opened, as its driver names it; empty before READY",
                          nullptr, kReadable));
  g_object_class_install_property(
      klass, kRequests,
      g_param_spec_uint("nireq", "Inference requests",
                        "Frames in flight at a time, 0: as many as keep the device busy", 0, 64, 0,
                        kWritable));
  g_object_class_install_property(
      klass, kInferenceInterval,
      g_param_spec_uint("inference-interval", "Inference interval",
                        "Infer every Nth frame; the others pass in order, without tensors", 1,
                        G_MAXUINT, 1, kWritableWhilePlaying));
  g_object_class_install_property(
      klass, kZeroCopy,
      g_param_spec_enum("zero-copy", "Zero copy",
                        "What happens to a frame that the NPU cannot read where it lies; \"stats\" "
                        "counts both kinds",
                        zero_copy_get_type(), kZeroCopyAuto, kWritableWhilePlaying));
  g_object_class_install_property(
      klass, kConfig,
      g_param_spec_string("config", "Compiler configuration",
                          "Options for the driver's compiler, KEY=VALUE,KEY=VALUE", nullptr,
                          kWritable));
  g_object_class_install_property(
      klass, kProperties,
      g_param_spec_string("properties", "Properties",
                          "Properties of npucore, KEY=VALUE KEY=\"VALUE WITH BLANKS\"; npu-info "
                          "--properties lists them",
                          nullptr, kWritable));
  g_object_class_install_property(
      klass, kStats,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames, how their memory was read, times in nanoseconds",
                         GST_TYPE_STRUCTURE, kReadable));
}

void finalize(GObject* object) {
  const std::unique_ptr<gstnpu::InferenceElement> impl(&impl_of(object));
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

void class_init(gpointer klass, gpointer) {
  gstnpu::set_up_log();
  parent_class = g_type_class_peek_parent(klass);
  G_OBJECT_CLASS(klass)->set_property = set_property;
  G_OBJECT_CLASS(klass)->get_property = get_property;
  G_OBJECT_CLASS(klass)->finalize = finalize;
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  install_properties(G_OBJECT_CLASS(klass));
  const gstnpu::CapsRef caps = gstnpu::template_caps();
  gst_element_class_add_pad_template(
      GST_ELEMENT_CLASS(klass),
      gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps.get()));
  gst_element_class_add_pad_template(
      GST_ELEMENT_CLASS(klass),
      gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps.get()));
}

void instance_init(GTypeInstance* instance, gpointer klass) {
  auto* base = reinterpret_cast<GstNpuBase*>(instance);
  GstPad* sink = add_pad(&base->parent, klass, "sink");
  gst_pad_set_chain_function(sink, sink_chain);
  gst_pad_set_event_function(sink, sink_event);
  gst_pad_set_query_function(sink, sink_query);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_caps, base, nullptr);
  gst_pad_set_activatemode_function(sink, activate_sink);
  GstPad* src = add_pad(&base->parent, klass, "src");
  gst_pad_set_query_function(src, src_query);
  gst_pad_set_activatemode_function(src, activate_src);
  base->impl = std::make_unique<gstnpu::InferenceElement>(
                   &base->parent, sink, src, static_cast<GstNpuBaseClass*>(klass)->open_source)
                   .release();
}

}  // namespace

GType gst_npu_base_get_type() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_ELEMENT, g_intern_static_string("GstNpuBase"), sizeof(GstNpuBaseClass), class_init,
      sizeof(GstNpuBase), instance_init, G_TYPE_FLAG_ABSTRACT);
  return type;
}
