// npupublish: a bin of the filter that writes the lines and, where nothing is linked behind it, a
// sink of its own.
#include <gst/gst.h>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/refs.hpp"

#include "publish_filter.hpp"

namespace gstnpu {
namespace {

/// State of an instance: the parts of the bin, which owns them.
class Publish {
 public:
  Publish(GstBin* bin, GstBinClass*);

  GstElement* filter() const { return filter_; }
  /// Before PAUSED. False: an error was posted.
  bool end_where_nothing_is_linked();
  void remove_sink();

 private:
  GstPad* add_ghost(const char* name);
  bool add_sink();

  GstBin* const bin_;
  GstElement* const filter_;
  GstPad* src_;                 // the element's
  GstElement* sink_ = nullptr;  // null while something is linked behind
};

using Type = ObjectType<GstBin, GstBinClass, Publish>;

Publish::Publish(GstBin* bin, GstBinClass*) : bin_(bin), filter_(make_publish_filter()) {
  gst_bin_add(bin_, filter_);
  add_ghost("sink");
  src_ = add_ghost("src");
}

GstPad* Publish::add_ghost(const char* name) {
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter_, name));
  GstPad* ghost = gst_ghost_pad_new(name, pad.get());
  gst_element_add_pad(GST_ELEMENT(bin_), ghost);
  return ghost;
}

void Publish::remove_sink() {
  if (sink_ == nullptr) return;
  gst_element_unlink(filter_, sink_);
  gst_element_set_state(sink_, GST_STATE_NULL);
  gst_bin_remove(bin_, sink_);
  sink_ = nullptr;
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(filter_, "src"));
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), pad.get());
}

bool Publish::end_where_nothing_is_linked() {
  remove_sink();  // a start that failed leaves it behind
  return gst_pad_is_linked(src_) || add_sink();
}

/// A pipeline may end in this element; fakesink then gives it a sink's preroll and end of stream.
bool Publish::add_sink() {
  sink_ = gst_element_factory_make("fakesink", "sink");
  if (sink_ == nullptr) {
    GST_ELEMENT_ERROR(bin_, CORE, MISSING_PLUGIN,
                      ("npupublish ends the pipeline but has no fakesink. Install GStreamer's core "
                       "elements, or link a sink behind it."),
                      (nullptr));
    return false;
  }
  gst_ghost_pad_set_target(GST_GHOST_PAD(src_), nullptr);
  gst_bin_add(bin_, sink_);
  return gst_element_link(filter_, sink_);
}

// ---- Class

void set_property(GObject* object, guint, const GValue* value, GParamSpec* spec) {
  g_object_set_property(G_OBJECT(Type::state_of(object).filter()), spec->name, value);
}

void get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  g_object_get_property(G_OBJECT(Type::state_of(object).filter()), spec->name, value);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  Publish& publish = Type::state_of(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !publish.end_where_nothing_is_linked()) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(Type::parent_class())->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    publish.remove_sink();
  }
  return result;
}

void class_init(GstBinClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  guint id = 0;
  for (GParamSpec* spec : publish_property_specs()) {
    g_object_class_install_property(object_class, ++id, spec);
  }

  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
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
