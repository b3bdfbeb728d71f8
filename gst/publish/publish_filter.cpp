// What npupublish does to the frames that pass: read_frame(), to_json_line() and Sink.
#include "publish_filter.hpp"

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "common/gtype.hpp"
#include "common/properties.hpp"

#include "frame_json.hpp"
#include "sink.hpp"

GST_DEBUG_CATEGORY_STATIC(publish_debug);
#define GST_CAT_DEFAULT publish_debug

namespace gstnpu {
namespace {

struct Settings {
  std::string location;
  bool append = false;
  bool flush = false;
  bool tensors = false;
};

/// What an instance holds.
class PublishFilter {
 public:
  PublishFilter(GstBaseTransform* base, GstBaseTransformClass*) {
    gst_base_transform_set_passthrough(base, TRUE);
  }

  Settings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    change(settings_);
  }

  /// From any thread: no frame waits for a reader any more, until resume().
  void interrupt() {
    const std::scoped_lock lock(mutex_);
    if (sink_) {
      sink_->interrupt();
    }
  }

  // The rest is for the streaming thread, and for start and stop, which never run beside it.
  /// Throws std::system_error when the file cannot be written.
  void start();
  void set_frame_size(const std::optional<npu::vision::FrameSize>& size) { frame_size_ = size; }
  /// False: interrupted.
  bool publish(GstBuffer* buffer);
  void flush();
  void resume();
  void stop();
  /// What was written to, as the user knows it.
  std::string target() const;

 private:
  void replace_sink(std::unique_ptr<Sink> sink);

  mutable std::mutex mutex_;  // guards settings_, and sink_ from being replaced
  Settings settings_;

  Settings active_;
  std::unique_ptr<Sink> sink_;
  std::optional<npu::vision::FrameSize> frame_size_;
  guint64 frames_ = 0;
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, PublishFilter>;

void PublishFilter::start() {
  active_ = settings();
  frames_ = 0;
  frame_size_.reset();
  replace_sink(
      make_sink(active_.location, {.append = active_.append, .flush_always = active_.flush}));
}

/// The former one goes outside the lock.
void PublishFilter::replace_sink(std::unique_ptr<Sink> sink) {
  const std::scoped_lock lock(mutex_);
  sink_.swap(sink);
}

void PublishFilter::stop() {
  replace_sink(nullptr);
}

bool PublishFilter::publish(GstBuffer* buffer) {
  FrameRecord record = read_frame(buffer, frame_size_, active_.tensors);
  record.frame = frames_++;
  return sink_->write(to_json_line(record));
}

void PublishFilter::flush() {
  if (sink_) {
    sink_->flush();
  }
}

void PublishFilter::resume() {
  if (sink_) {
    sink_->resume();
  }
}

std::string PublishFilter::target() const {
  return describe_sink(active_.location);
}

// ---- Errors

void post_write_error(GstElement* element, const char* name, const std::error_code& code) {
  const std::string reason =
      code == std::errc::broken_pipe
          ? "nobody reads the pipe any more. Start its reader, then the pipeline"
          : code.message();
  if (code == std::errc::no_space_on_device) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                      ("Cannot write detections to %s: %s. Free some space and start again.", name,
                       reason.c_str()),
                      (nullptr));
  } else {
    GST_ELEMENT_ERROR(element, RESOURCE, WRITE,
                      ("Cannot write detections to %s: %s.", name, reason.c_str()), (nullptr));
  }
}

void post_open_error(GstElement* element, const char* name, const std::error_code& code) {
  if (code == std::errc::no_such_device_or_address) {
    GST_ELEMENT_ERROR(element, RESOURCE, OPEN_WRITE,
                      ("Cannot open %s for writing: nobody reads the pipe. Start its reader "
                       "before the pipeline.",
                       name),
                      (nullptr));
  } else {
    GST_ELEMENT_ERROR(element, RESOURCE, OPEN_WRITE,
                      ("Cannot open %s for writing: %s. Set location to a file in a folder that "
                       "exists and is writable.",
                       name, code.message().c_str()),
                      (nullptr));
  }
}

enum class Step { kOpen, kWrite };

/// In a handler: the one place that makes messages of exceptions.
void post_caught(GstElement* element, Step step) {
  const std::string name = Type::state_of(element).target();
  try {
    throw;
  } catch (const std::system_error& error) {
    if (step == Step::kWrite) return post_write_error(element, name.c_str(), error.code());
    post_open_error(element, name.c_str(), error.code());
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element, STREAM, FAILED, ("Cannot describe the frame: %s.", error.what()),
                      (nullptr));
  }
}

// ---- Transform

gboolean start(GstBaseTransform* base) {
  try {
    Type::state_of(base).start();
    return TRUE;
  } catch (...) {
    post_caught(GST_ELEMENT(base), Step::kOpen);
    return FALSE;
  }
}

void flush(GstBaseTransform* base) {
  try {
    Type::state_of(base).flush();
  } catch (...) {
    post_caught(GST_ELEMENT(base), Step::kWrite);
  }
}

gboolean stop(GstBaseTransform* base) {
  flush(base);
  Type::state_of(base).stop();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  gint width = 0, height = 0;
  std::optional<npu::vision::FrameSize> size;
  if (gst_structure_get_int(structure, "width", &width) && width > 0 &&
      gst_structure_get_int(structure, "height", &height) && height > 0) {
    size = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  }
  Type::state_of(base).set_frame_size(size);
  return TRUE;
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  PublishFilter& filter = Type::state_of(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    flush(base);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) {
    filter.interrupt();
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    filter.resume();
  }
  return Type::parent_class()->sink_event(base, event);
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    return Type::state_of(base).publish(buffer) ? GST_FLOW_OK : GST_FLOW_FLUSHING;
  } catch (...) {
    post_caught(GST_ELEMENT(base), Step::kWrite);
    return GST_FLOW_ERROR;
  }
}

/// The base class waits for the frame on its way before it stops.
GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    Type::state_of(element).interrupt();
  }
  return GST_ELEMENT_CLASS(Type::parent_class())->change_state(element, transition);
}

std::vector<Property<PublishFilter>> properties() {
  using F = PublishFilter;
  return {
      property<F, &Settings::location>(g_param_spec_string(
          "location", "Location", "File to write; empty or \"-\": the standard output", "",
          kUntilReady)),
      property<F, &Settings::append>(g_param_spec_boolean(
          "append", "Append", "Add to what the file already holds", FALSE, kUntilReady)),
      property<F, &Settings::flush>(g_param_spec_boolean(
          "flush", "Flush",
          "Write each line to a regular file immediately; other outputs always get it immediately",
          FALSE, kUntilReady)),
      property<F, &Settings::tensors>(g_param_spec_boolean(
          "tensors", "Tensors", "Add the name, type and shape of each tensor", FALSE, kUntilReady)),
  };
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(publish_debug, "npupublish", 0, "writes detections as JSON lines");
  Properties<Type, properties>::install(klass);

  static GstStaticPadTemplate sink_template =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(
      element_class, "NPU result publisher's filter", "Filter/Metadata",
      "Writes one JSON line per frame: time, model, detections", "npucore");

  element_class->change_state = change_state;
  klass->start = start;
  klass->stop = stop;
  klass->set_caps = set_caps;
  klass->sink_event = sink_event;
  klass->transform_ip = transform_ip;
}

}  // namespace

GstElement* make_publish_filter() {
  const GType type = Type::get<class_init>("GstNpuPublishFilter", GST_TYPE_BASE_TRANSFORM);
  return GST_ELEMENT(g_object_new(type, "name", "filter", nullptr));
}

std::vector<GParamSpec*> publish_property_specs() {
  std::vector<GParamSpec*> specs;
  for (const auto& row : properties()) specs.push_back(row.spec);
  return specs;
}

}  // namespace gstnpu
