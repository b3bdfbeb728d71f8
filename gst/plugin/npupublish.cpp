// npupublish: the element around read_frame(), to_json_line() and LineWriter.
#include <gst/base/gstbasetransform.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "frame_json.hpp"
#include "line_writer.hpp"
#include "plugin/elements.hpp"

GST_DEBUG_CATEGORY_STATIC(npupublish_debug);
#define GST_CAT_DEFAULT npupublish_debug

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

/// Holds frames back while the element is the last one and its pipeline does not play.
class Gate {
 public:
  enum class Closed { kFlushing, kStopped };

  void reset() {
    change([this] { playing_ = flushing_ = stopped_ = false; });
  }
  void set_playing(bool playing) {
    change([=, this] { playing_ = playing; });
  }
  void close_for(Closed why) {
    change([=, this] { flag(why) = true; });
  }
  void open_after(Closed why) {
    change([=, this] { flag(why) = false; });
  }
  /// False: the stream is flushed or stopped instead.
  bool wait_for_playing() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return playing_ || flushing_ || stopped_; });
    return !flushing_ && !stopped_;
  }

 private:
  template <class Change>
  void change(Change apply) {
    const std::lock_guard lock(mutex_);
    apply();
    changed_.notify_all();
  }
  bool& flag(Closed why) { return why == Closed::kFlushing ? flushing_ : stopped_; }

  std::mutex mutex_;  // guards the flags
  std::condition_variable changed_;
  bool playing_ = false, flushing_ = false, stopped_ = false;
};

struct State {
  Gate gate;
  std::mutex mutex;  // guards settings
  Settings settings;

  // Of the streaming thread, and of start() and stop(), which never run beside it.
  Settings active;
  std::unique_ptr<LineWriter> writer;
  std::optional<FrameSize> frame_size;
  guint64 frames = 0;
};

struct NpuPublish {
  GstBaseTransform parent;
  State* state;
  GstPadChainFunction chain_on;  // GstBaseTransform's own
};

struct NpuPublishClass {
  GstBaseTransformClass parent_class;
};

// NOLINTNEXTLINE(performance-no-int-to-ptr): inside the macro
G_DEFINE_TYPE(NpuPublish, npu_publish, GST_TYPE_BASE_TRANSFORM)

State& state_of(gpointer instance) {
  return *static_cast<NpuPublish*>(instance)->state;
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

// A pipeline may end in this element: then it is a sink without a clock.
bool is_last(const GstBaseTransform* base) {
  return !gst_pad_is_linked(base->srcpad);
}

GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer) {
  auto* base = GST_BASE_TRANSFORM(parent);
  if (is_last(base) && !state_of(base).gate.wait_for_playing()) {
    gst_buffer_unref(buffer);
    return GST_FLOW_FLUSHING;
  }
  const GstFlowReturn flow = reinterpret_cast<NpuPublish*>(base)->chain_on(pad, parent, buffer);
  return flow == GST_FLOW_NOT_LINKED && is_last(base) ? GST_FLOW_OK : flow;
}

gboolean end_stream(GstBaseTransform* base, GstEvent* event) {
  GstMessage* message = gst_message_new_eos(GST_OBJECT(base));
  gst_message_set_seqnum(message, gst_event_get_seqnum(event));
  gst_event_unref(event);
  // Bins lose an end of stream that comes before they play.
  if (state_of(base).gate.wait_for_playing())
    return gst_element_post_message(GST_ELEMENT(base), message);
  gst_message_unref(message);
  return FALSE;
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  State& state = state_of(base);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
      state.gate.close_for(Gate::Closed::kFlushing);
      break;
    case GST_EVENT_FLUSH_STOP:
      state.gate.open_after(Gate::Closed::kFlushing);
      break;
    case GST_EVENT_EOS:
      flush(GST_ELEMENT(base), state);
      if (is_last(base)) return end_stream(base, event);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(npu_publish_parent_class)->sink_event(base, event);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  Gate& gate = state_of(element).gate;
  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      gate.reset();
      // The bin waits for the end of the stream from elements with this flag.
      if (is_last(GST_BASE_TRANSFORM(element)))
        GST_OBJECT_FLAG_SET(element, GST_ELEMENT_FLAG_SINK);
      else
        GST_OBJECT_FLAG_UNSET(element, GST_ELEMENT_FLAG_SINK);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      gate.set_playing(true);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gate.set_playing(false);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gate.close_for(Gate::Closed::kStopped);
      break;
    default:
      break;
  }
  return GST_ELEMENT_CLASS(npu_publish_parent_class)->change_state(element, transition);
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
      static_cast<NpuPublish*>(static_cast<gpointer>(object))->state);
  G_OBJECT_CLASS(npu_publish_parent_class)->finalize(object);
}

void npu_publish_init(NpuPublish* self) {
  self->state = std::make_unique<State>().release();
  GstPad* sink = GST_BASE_TRANSFORM_SINK_PAD(self);
  self->chain_on = GST_PAD_CHAINFUNC(sink);
  gst_pad_set_chain_function(sink, chain);
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

void npu_publish_class_init(NpuPublishClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npupublish_debug, "npupublish", 0, "writes detections as JSON lines");
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
  element_class->change_state = change_state;
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(element_class, "NPU result publisher", "Filter/Metadata",
                                        "Writes one JSON line a frame: time, model, detections",
                                        "npucore");

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = start;
  transform_class->stop = stop;
  transform_class->set_caps = set_caps;
  transform_class->sink_event = sink_event;
  transform_class->transform_ip = transform_ip;
}

}  // namespace

gboolean register_npupublish(GstPlugin* plugin) {
  return gst_element_register(plugin, "npupublish", GST_RANK_NONE, npu_publish_get_type());
}

}  // namespace gstnpu
