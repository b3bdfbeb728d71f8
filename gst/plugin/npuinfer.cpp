// npuinfer: runs an OpenVINO IR on frames as they come.
#include "plugin/elements.hpp"
#include "plugin/npu_base.hpp"

namespace {

enum Property { kResizeMode = 100, kMean, kScale, kChannelOrder, kCacheDir };

enum ResizeChoice { kResizeAuto, kResizeStretch, kResizeLetterbox };
enum ChannelChoice { kChannelsAuto, kChannelsRgb, kChannelsBgr };

GType resize_mode_get_type() {
  static const GEnumValue values[] = {
      {kResizeAuto, "As the model's resize_type tells, else stretch", "auto"},
      {kResizeStretch, "Fill the model's input whatever the aspect ratio", "stretch"},
      {kResizeLetterbox, "Keep the aspect ratio, with borders", "letterbox"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstNpuResizeMode", values);
  return type;
}

GType channel_order_get_type() {
  static const GEnumValue values[] = {
      {kChannelsAuto, "As the model's reverse_input_channels tells, else RGB", "auto"},
      {kChannelsRgb, "Red first", "rgb"},
      {kChannelsBgr, "Blue first", "bgr"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstNpuChannelOrder", values);
  return type;
}

std::string string_of(const GValue* value) {
  const gchar* text = g_value_get_string(value);
  return text ? text : "";
}

std::optional<npu::ResizeMode> to_resize_mode(gint choice) {
  if (choice == kResizeAuto) return std::nullopt;
  return choice == kResizeStretch ? npu::ResizeMode::kStretch : npu::ResizeMode::kLetterbox;
}

gint from_resize_mode(const std::optional<npu::ResizeMode>& mode) {
  if (!mode) return kResizeAuto;
  return *mode == npu::ResizeMode::kStretch ? kResizeStretch : kResizeLetterbox;
}

std::optional<npu::ChannelOrder> to_channel_order(gint choice) {
  if (choice == kChannelsAuto) return std::nullopt;
  return choice == kChannelsRgb ? npu::ChannelOrder::kRGB : npu::ChannelOrder::kBGR;
}

gint from_channel_order(const std::optional<npu::ChannelOrder>& order) {
  if (!order) return kChannelsAuto;
  return *order == npu::ChannelOrder::kRGB ? kChannelsRgb : kChannelsBgr;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  reinterpret_cast<GstNpuBase*>(object)->impl->change_settings([&](gstnpu::Settings& settings) {
    switch (id) {
      case kResizeMode:
        settings.resize = to_resize_mode(g_value_get_enum(value));
        break;
      case kMean:
        settings.mean = string_of(value);
        break;
      case kScale:
        settings.scale = string_of(value);
        break;
      case kChannelOrder:
        settings.channels = to_channel_order(g_value_get_enum(value));
        break;
      case kCacheDir:
        settings.cache_dir = string_of(value);
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
  });
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const gstnpu::Settings settings = reinterpret_cast<GstNpuBase*>(object)->impl->settings();
  switch (id) {
    case kResizeMode:
      g_value_set_enum(value, from_resize_mode(settings.resize));
      break;
    case kMean:
      g_value_set_string(value, settings.mean.c_str());
      break;
    case kScale:
      g_value_set_string(value, settings.scale.c_str());
      break;
    case kChannelOrder:
      g_value_set_enum(value, from_channel_order(settings.channels));
      break;
    case kCacheDir:
      g_value_set_string(value, settings.cache_dir.c_str());
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void class_init(gpointer klass, gpointer) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  g_object_class_install_property(
      object_class, kResizeMode,
      g_param_spec_enum("resize-mode", "Resize mode", "How a frame fills the model's input",
                        resize_mode_get_type(), kResizeAuto, kFlags));
  g_object_class_install_property(
      object_class, kMean,
      g_param_spec_string(
          "mean", "Mean",
          "Subtracted from grey levels 0..255: one value, or one per channel in the "
          "model's order; empty: as the model's mean_values tells",
          nullptr, kFlags));
  g_object_class_install_property(
      object_class, kScale,
      g_param_spec_string("scale", "Scale",
                          "Divides after the mean: one value, or one per channel; empty: as the "
                          "model's scale_values tells",
                          nullptr, kFlags));
  g_object_class_install_property(
      object_class, kChannelOrder,
      g_param_spec_enum("channel-order", "Channel order", "Order that the model expects",
                        channel_order_get_type(), kChannelsAuto, kFlags));
  g_object_class_install_property(
      object_class, kCacheDir,
      g_param_spec_string("cache-dir", "Cache folder",
                          "Keep compiled models in this folder; empty: compile each time, unless "
                          "the driver has a cache of its own",
                          nullptr, kFlags));
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "NPU inference", "Filter/Analyzer/Video",
      "Runs an OpenVINO IR on an Intel NPU, with the frame's conversion inside the graph",
      "npucore");
  static_cast<GstNpuBaseClass*>(klass)->open_source = gstnpu::open_ir;
}

}  // namespace

GType gst_npu_infer_get_type() {
  static const GType type = g_type_register_static_simple(
      gst_npu_base_get_type(), g_intern_static_string("GstNpuInfer"), sizeof(GstNpuBaseClass),
      class_init, sizeof(GstNpuBase), nullptr, static_cast<GTypeFlags>(0));
  return type;
}

gboolean gstnpu::register_npuinfer(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuinfer", GST_RANK_NONE, gst_npu_infer_get_type());
}
