// npuimport: runs a precompiled blob on frames of the layout that it was compiled for.
#include "plugin/elements.hpp"
#include "plugin/npu_base.hpp"

namespace {

void class_init(gpointer klass, gpointer) {
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
