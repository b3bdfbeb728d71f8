// npupublish: a bin of the filter that writes the lines and, where nothing is linked behind it, a
// sink of its own.
#include <gst/gst.h>

#include "plugin/elements.hpp"
#include "publish_filter.hpp"

namespace gstnpu {
namespace {

struct NpuPublish {
  GstBin parent;
  GstElement* filter;  // the bin's
  GstElement* sink;    // the bin's; null while something is linked behind
  GstPad* src;         // the element's
};

struct NpuPublishClass {
  GstBinClass parent_class;
};

// NOLINTNEXTLINE(performance-no-int-to-ptr): inside the macro
G_DEFINE_TYPE(NpuPublish, npu_publish, GST_TYPE_BIN)

NpuPublish* self_of(gpointer instance) {
  return static_cast<NpuPublish*>(instance);
}

void set_property(GObject* object, guint, const GValue* value, GParamSpec* spec) {
  g_object_set_property(G_OBJECT(self_of(object)->filter), spec->name, value);
}

void get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  g_object_get_property(G_OBJECT(self_of(object)->filter), spec->name, value);
}

void show_filter_pad(GstGhostPad* ghost, GstElement* filter) {
  GstPad* pad = gst_element_get_static_pad(filter, "src");
  gst_ghost_pad_set_target(ghost, pad);
  gst_object_unref(pad);
}

void remove_sink(NpuPublish* self) {
  if (self->sink == nullptr) return;
  gst_element_unlink(self->filter, self->sink);
  gst_element_set_state(self->sink, GST_STATE_NULL);
  gst_bin_remove(GST_BIN(self), self->sink);
  self->sink = nullptr;
  show_filter_pad(GST_GHOST_PAD(self->src), self->filter);
}

/// A pipeline may end in this element; fakesink then gives it a sink's preroll and end of stream.
bool add_sink(NpuPublish* self) {
  self->sink = gst_element_factory_make("fakesink", "sink");
  if (self->sink == nullptr) {
    GST_ELEMENT_ERROR(self, CORE, MISSING_PLUGIN,
                      ("npupublish ends the pipeline but has no fakesink. Install GStreamer's core "
                       "elements, or link a sink behind it."),
                      (nullptr));
    return false;
  }
  gst_ghost_pad_set_target(GST_GHOST_PAD(self->src), nullptr);
  gst_bin_add(GST_BIN(self), self->sink);
  return gst_element_link(self->filter, self->sink);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  NpuPublish* self = self_of(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    remove_sink(self);  // a start that failed leaves it behind
    if (!gst_pad_is_linked(self->src) && !add_sink(self)) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(npu_publish_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) remove_sink(self);
  return result;
}

void add_ghost(NpuPublish* self, GstElement* filter, const char* name) {
  GstPad* pad = gst_element_get_static_pad(filter, name);
  gst_element_add_pad(GST_ELEMENT(self), gst_ghost_pad_new(name, pad));
  gst_object_unref(pad);
}

void npu_publish_init(NpuPublish* self) {
  self->filter = make_publish_filter();
  gst_bin_add(GST_BIN(self), self->filter);
  add_ghost(self, self->filter, "sink");
  add_ghost(self, self->filter, "src");
  self->src = gst_element_get_static_pad(GST_ELEMENT(self), "src");
  gst_object_unref(self->src);  // the element keeps it as long as it lives
}

void npu_publish_class_init(NpuPublishClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  install_publish_properties(object_class);

  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(element_class, "NPU result publisher", "Filter/Metadata",
                                        "Writes one JSON line a frame: time, model, detections",
                                        "npucore");
}

}  // namespace

gboolean register_npupublish(GstPlugin* plugin) {
  return gst_element_register(plugin, "npupublish", GST_RANK_NONE, npu_publish_get_type());
}

}  // namespace gstnpu
