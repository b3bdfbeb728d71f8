// What npupublish does to the frames that pass: read_frame(), to_json_line() and LineWriter.
#include "publish_filter.hpp"

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "frame_json.hpp"
#include "line_writer.hpp"

GST_DEBUG_CATEGORY_STATIC(publish_debug);
#define GST_CAT_DEFAULT publish_debug

namespace gstnpu {
namespace {

enum Property {
  kPropLocation = 1,
  kPropAppend,
  kPropFlush,
  kPropTensors,
};

struct Settings {
  std::string location;
  bool append = false;
  bool flush = false;
  bool tensors = false;
};

struct State {
  std::mutex mutex;  // guards settings
  Settings settings;

  // Of the streaming thread, and of start() and stop(), which never run beside it.
  Settings active;
  std::unique_ptr<LineWriter> writer;
  std::optional<FrameSize> frame_size;
  guint64 frames = 0;
};

struct PublishFilter {
  GstBaseTransform parent;
  State* state;
};

struct PublishFilterClass {
  GstBaseTransformClass parent_class;
};

// NOLINTNEXTLINE(performance-no-int-to-ptr): inside the macro
G_DEFINE_TYPE(PublishFilter, publish_filter, GST_TYPE_BASE_TRANSFORM)

State& state_of(gpointer instance) {
  return *static_cast<PublishFilter*>(instance)->state;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  State& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  switch (id) {
    case kPropLocation: {
      const gchar* location = g_value_get_string(value);
      state.settings.location = location != nullptr ? location : "";
      break;
    }
    case kPropAppend:
      state.settings.append = g_value_get_boolean(value);
      break;
    case kPropFlush:
      state.settings.flush = g_value_get_boolean(value);
      break;
    case kPropTensors:
      state.settings.tensors = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  State& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  switch (id) {
    case kPropLocation:
      g_value_set_string(value, state.settings.location.c_str());
      break;
    case kPropAppend:
      g_value_set_boolean(value, state.settings.append);
      break;
    case kPropFlush:
      g_value_set_boolean(value, state.settings.flush);
      break;
    case kPropTensors:
      g_value_set_boolean(value, state.settings.tensors);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

std::string name_of(const Settings& settings) {
  if (settings.location.empty() || settings.location == "-") return "stdout";
  return "\"" + settings.location + "\"";
}

void report_write_error(GstElement* element, const Settings& settings,
                        const std::system_error& error) {
  const std::string name = name_of(settings);
  const std::string reason = error.code().message();
  if (error.code() == std::errc::no_space_on_device) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                      ("Cannot write detections to %s: %s. Free some space and start again.",
                       name.c_str(), reason.c_str()),
                      (nullptr));
  } else {
    GST_ELEMENT_ERROR(element, RESOURCE, WRITE,
                      ("Cannot write detections to %s: %s.", name.c_str(), reason.c_str()),
                      (nullptr));
  }
}

gboolean start(GstBaseTransform* base) {
  State& state = state_of(base);
  {
    const std::lock_guard lock(state.mutex);
    state.active = state.settings;
  }
  const Settings& active = state.active;
  state.frames = 0;
  state.frame_size.reset();
  try {
    state.writer = std::make_unique<LineWriter>(
        active.location,
        LineWriter::Options{.append = active.append, .flush_always = active.flush});
    return TRUE;
  } catch (const std::system_error& error) {
    GST_ELEMENT_ERROR(base, RESOURCE, OPEN_WRITE,
                      ("Cannot open %s for writing: %s. Set location to a file in a folder that is "
                       "there and writable.",
                       name_of(active).c_str(), error.code().message().c_str()),
                      (nullptr));
    return FALSE;
  }
}

// Whether everything written so far has reached the file; the failure is posted.
bool flush(GstElement* element, State& state) {
  try {
    if (state.writer) state.writer->flush();
    return true;
  } catch (const std::system_error& error) {
    report_write_error(element, state.active, error);
    return false;
  }
}

gboolean stop(GstBaseTransform* base) {
  State& state = state_of(base);
  flush(GST_ELEMENT(base), state);
  state.writer.reset();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  State& state = state_of(base);
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  gint width = 0, height = 0;
  state.frame_size.reset();
  if (gst_structure_get_int(structure, "width", &width) && width > 0 &&
      gst_structure_get_int(structure, "height", &height) && height > 0) {
    state.frame_size = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  }
  return TRUE;
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) flush(GST_ELEMENT(base), state_of(base));
  return GST_BASE_TRANSFORM_CLASS(publish_filter_parent_class)->sink_event(base, event);
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  State& state = state_of(base);
  try {
    FrameRecord record = read_frame(buffer, state.frame_size, state.active.tensors);
    record.frame = state.frames++;
    state.writer->write(to_json_line(record));
    return GST_FLOW_OK;
  } catch (const std::system_error& error) {
    report_write_error(GST_ELEMENT(base), state.active, error);
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(base, STREAM, FAILED, ("Cannot describe the frame: %s.", error.what()),
                      (nullptr));
  }
  return GST_FLOW_ERROR;
}

void finalize(GObject* object) {
  const std::unique_ptr<State> owner(
      static_cast<PublishFilter*>(static_cast<gpointer>(object))->state);
  G_OBJECT_CLASS(publish_filter_parent_class)->finalize(object);
}

void publish_filter_init(PublishFilter* self) {
  self->state = std::make_unique<State>().release();
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

void install_properties(GObjectClass* klass) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, kPropLocation,
      g_param_spec_string("location", "Location",
                          "File to write; empty or \"-\": the standard output", "", kFlags));
  g_object_class_install_property(
      klass, kPropAppend,
      g_param_spec_boolean("append", "Append", "Keep what the file holds already", FALSE, kFlags));
  g_object_class_install_property(
      klass, kPropFlush,
      g_param_spec_boolean("flush", "Flush",
                           "Write each line at once to a regular file; other outputs always get it "
                           "at once",
                           FALSE, kFlags));
  g_object_class_install_property(
      klass, kPropTensors,
      g_param_spec_boolean("tensors", "Tensors", "List name, type and shape of each tensor", FALSE,
                           kFlags));
}

void publish_filter_class_init(PublishFilterClass* klass) {
  GST_DEBUG_CATEGORY_INIT(publish_debug, "npupublish", 0, "writes detections as JSON lines");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(
      element_class, "NPU result publisher's filter", "Filter/Metadata",
      "Writes one JSON line a frame: time, model, detections", "npucore");

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = start;
  transform_class->stop = stop;
  transform_class->set_caps = set_caps;
  transform_class->sink_event = sink_event;
  transform_class->transform_ip = transform_ip;
}

}  // namespace

GstElement* make_publish_filter() {
  return GST_ELEMENT(g_object_new(publish_filter_get_type(), "name", "filter", nullptr));
}

void install_publish_properties(GObjectClass* klass) {
  install_properties(klass);
}

}  // namespace gstnpu
