// npuimport: runs a precompiled blob on frames of the layout that it was compiled for.
#include "plugin/elements.hpp"
#include "plugin/npu_base.hpp"

namespace {

enum Property { kConvert = 100 };

enum ConvertChoice { kConvertNever, kConvertAllow };

GType convert_get_type() {
  static const GEnumValue values[] = {
      {kConvertNever, "Stop with an error that tells how to compile the blob for them", "never"},
      {kConvertAllow, "Copy each frame into the blob's layout", "allow"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstNpuConvert", values);
  return type;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  if (id != kConvert) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  reinterpret_cast<GstNpuBase*>(object)->impl->change_settings([&](gstnpu::Settings& settings) {
    settings.converts_layout = g_value_get_enum(value) == kConvertAllow;
  });
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id != kConvert) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const bool converts = reinterpret_cast<GstNpuBase*>(object)->impl->settings().converts_layout;
  g_value_set_enum(value, converts ? kConvertAllow : kConvertNever);
}

void class_init(gpointer klass, gpointer) {
  G_OBJECT_CLASS(klass)->set_property = set_property;
  G_OBJECT_CLASS(klass)->get_property = get_property;
  g_object_class_install_property(
      G_OBJECT_CLASS(klass), kConvert,
      g_param_spec_enum("convert", "Convert",
                        "What happens to frames that the NPU could read in place, had the blob "
                        "been compiled for their strides",
                        convert_get_type(), kConvertNever,
                        static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                 GST_PARAM_MUTABLE_READY)));
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "NPU inference, precompiled", "Filter/Analyzer/Video",
      "Runs a precompiled blob on an Intel NPU: no compiler needed", "npucore");
  static_cast<GstNpuBaseClass*>(klass)->open_source = gstnpu::open_blob;
}

}  // namespace

GType gst_npu_import_get_type() {
  static const GType type = g_type_register_static_simple(
      gst_npu_base_get_type(), g_intern_static_string("GstNpuImport"), sizeof(GstNpuBaseClass),
      class_init, sizeof(GstNpuBase), nullptr, static_cast<GTypeFlags>(0));
  return type;
}

gboolean gstnpu::register_npuimport(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuimport", GST_RANK_NONE, gst_npu_import_get_type());
}
