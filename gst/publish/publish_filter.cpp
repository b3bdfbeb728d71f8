// Publishes passing frames with read_frame(), to_json_line() and Publisher.
#include "publish_filter.hpp"

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <npucore/error.hpp>

#include "analytics/frame_stream.hpp"
#include "analytics/lost_results.hpp"
#include "common/bus.hpp"
#include "common/gtype.hpp"
#include "publish/sinks/array_file.hpp"
#include "publish/sinks/broker_location.hpp"

#include "dlstreamer_json.hpp"
#include "frame_json.hpp"
#include "publish_properties.hpp"
#include "wall_clock.hpp"

GST_DEBUG_CATEGORY_STATIC(publish_debug);
#define GST_CAT_DEFAULT publish_debug

namespace gstnpu {
namespace {

/// State of an instance.
class PublishFilter final : public PublishState {
 public:
  PublishFilter(GstBaseTransform* base, GstBaseTransformClass*) : element_(GST_ELEMENT(base)) {
    gst_base_transform_set_passthrough(base, TRUE);
  }

  GstStructure* stats() const override;

  /// Calls interrupt(), resume() or refuse(). Any thread.
  void tell_publisher(void (Publisher::*what)()) {
    const std::scoped_lock lock(mutex_);
    if (publisher_) {
      (publisher_.get()->*what)();
    }
  }

  // The rest is for the streaming thread, and for start and stop, which never run beside it.
  /// Throws std::system_error when the file cannot be written.
  void start();
  void set_frame_size(const std::optional<npu::vision::FrameSize>& size) { frame_size_ = size; }
  /// False: interrupted. Throws what writing has thrown, here and below.
  bool publish(GstBuffer* buffer, const GstSegment& segment);
  void drain();
  void stop();
  /// The destination in the user's words.
  std::string target() const { return describe_sink(active_.location); }

 private:
  void replace_publisher(std::unique_ptr<Publisher> publisher);
  std::unique_ptr<Sink> open_sink() const;
  std::string line_of(GstBuffer* buffer, const GstSegment& segment);
  void tell_lost(const std::string& when) const;
  void tell_drops(Publisher::Result result);

  GstElement* const element_;
  mutable std::mutex mutex_;     // guards publisher_ from being replaced
  Publisher::Stats last_stats_;  // of a publisher that has ended

  PublishSettings active_;
  std::unique_ptr<Publisher> publisher_;
  std::optional<npu::vision::FrameSize> frame_size_;
  guint64 frames_ = 0;
  bool has_told_drops_ = false;
  LostResults lost_results_;
  MapModels map_models_;
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, PublishFilter>;

void warn_of_failure(GstElement* element);

std::unique_ptr<Sink> PublishFilter::open_sink() const {
  check_names_no_user(active_.location);
  if (active_.file_format == PublishFileFormat::kJson) {
    return std::make_unique<ArrayFile>(active_.location, active_.append);
  }
  return make_sink(
      active_.location,
      {.append = active_.append,
       .flush_always = active_.flush,
       .warn = [element = element_](const std::string& text) { post_warning(element, text); },
       .mqtt = active_.mqtt,
       .kafka = active_.kafka,
       .stream_id = active_.stream_id});
}

void PublishFilter::start() {
  active_ = settings();
  frames_ = 0;
  has_told_drops_ = false;
  lost_results_ = LostResults();
  frame_size_.reset();
  replace_publisher(std::make_unique<Publisher>(
      open_sink(), Publisher::Options{.policy = active_.policy, .most_lines = active_.queue_size},
      [element = element_] { warn_of_failure(element); }));
}

/// The former one goes outside the lock.
void PublishFilter::replace_publisher(std::unique_ptr<Publisher> publisher) {
  const std::scoped_lock lock(mutex_);
  last_stats_ = publisher_ ? publisher_->stats() : Publisher::Stats();
  publisher_.swap(publisher);
}

void PublishFilter::tell_lost(const std::string& when) const {
  const std::uint64_t lost = publisher_->stats().queued;
  if (lost == 0) return;
  post_warning(element_, std::to_string(lost) + " lines for " + target() + " were not out " + when +
                             ": whoever takes them is away, or slower than the stream");
}

std::optional<std::uint64_t> stream_time_of(GstBuffer* buffer, const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME) return std::nullopt;
  const guint64 time =
      gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  return time != GST_CLOCK_TIME_NONE ? std::optional(time) : std::nullopt;
}

std::string PublishFilter::line_of(GstBuffer* buffer, const GstSegment& segment) {
  FrameRecord record = read_frame(buffer, frame_size_, active_.tensors);
  if (active_.format == PublishFormat::kNpu) {
    record.maps = read_map_records(buffer, record.regions, &map_models_);
  }
  record.frame = frames_++;
  record.stream_time_ns = stream_time_of(buffer, segment);
  if (!active_.stream_id.empty()) {
    record.stream = active_.stream_id;
  }
  if (active_.wall_clock) {
    record.time = wall_clock_of(buffer, segment, element_);
  }
  return active_.format == PublishFormat::kDlstreamer ? to_dlstreamer_line(record)
                                                      : to_json_line(record);
}

/// Once, with the limit that was met first.
void PublishFilter::tell_drops(Publisher::Result result) {
  const bool is_of_lines = result == Publisher::Result::kTooManyLines;
  const bool is_of_bytes = result == Publisher::Result::kTooManyBytes;
  if (!(is_of_lines || is_of_bytes) || std::exchange(has_told_drops_, true)) return;
  const std::string waiting = is_of_lines
                                  ? std::to_string(active_.queue_size)
                                  : std::to_string(Publisher::kMostBytes >> 20) + " MiB of them";
  const std::string cure =
      is_of_lines ? "queue-size larger" : "the lines shorter: a larger queue-size does not help";
  post_warning(element_, "Lines for " + target() + " are dropped (policy): " + waiting +
                             " wait already, because whoever reads them is slower than the "
                             "stream. Make the reader faster, or " +
                             cure);
}

bool PublishFilter::publish(GstBuffer* buffer, const GstSegment& segment) {
  lost_results_.look_at(element_, buffer);
  const Publisher::Result result = publisher_->push(line_of(buffer, segment));
  tell_drops(result);
  return result != Publisher::Result::kInterrupted;
}

void PublishFilter::drain() {
  if (!publisher_) return;
  const bool waits = active_.policy == PublishPolicy::kBlock && !active_.eos_time_ms;
  const std::chrono::milliseconds longest(active_.eos_time_ms.value_or(active_.drain_time_ms));
  const bool is_done = publisher_->drain(waits ? Publisher::kForever : longest);
  if (!is_done && active_.eos_time_ms && !publisher_->is_interrupted()) {
    tell_lost("when eos-time was over, and are lost if they are not when the element has stopped");
  }
}

void PublishFilter::stop() {
  if (!publisher_) return;
  std::exception_ptr failure;
  try {
    publisher_->end(std::chrono::milliseconds(active_.drain_time_ms));
    tell_lost("when the element stopped, and are lost");
  } catch (...) {
    failure = std::current_exception();
  }
  replace_publisher(nullptr);
  if (failure) {
    std::rethrow_exception(failure);
  }
}

GstStructure* PublishFilter::stats() const {
  const std::scoped_lock lock(mutex_);
  const Publisher::Stats now = publisher_ ? publisher_->stats() : last_stats_;
  return gst_structure_new("stats", "published", G_TYPE_UINT64, now.published, "dropped",
                           G_TYPE_UINT64, now.dropped, "failed", G_TYPE_UINT64, now.failed,
                           "queued", G_TYPE_UINT64, now.queued, nullptr);
}

// ---- Errors

std::string reason_of(const std::error_code& code) {
  return code == std::errc::broken_pipe
             ? "nobody reads the pipe any more. Start its reader, then the pipeline"
             : code.message();
}

void post_write_error(GstElement* element, const char* name, const std::error_code& code) {
  const std::string reason = reason_of(code);
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
  } catch (const npu::Error& error) {
    post_error(element, error, "");
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element, STREAM, FAILED, ("Cannot describe the frame: %s.", error.what()),
                      (nullptr));
  }
}

/// In a handler, of policies that drop.
void warn_of_failure(GstElement* element) {
  std::string reason = "unknown";
  try {
    throw;
  } catch (const std::system_error& error) {
    reason = reason_of(error.code());
  } catch (const std::exception& error) {
    reason = error.what();
  }
  post_warning(element, "Cannot write detections to " + Type::state_of(element).target() + ": " +
                            reason + ". Lines are lost until that passes");
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

/// Does `work` of the state, and posts what it throws.
void call(GstBaseTransform* base, void (PublishFilter::*work)()) {
  try {
    (Type::state_of(base).*work)();
  } catch (...) {
    post_caught(GST_ELEMENT(base), Step::kWrite);
  }
}

gboolean stop(GstBaseTransform* base) {
  call(base, &PublishFilter::stop);
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  Type::state_of(base).set_frame_size(frame_size_in(gst_caps_get_structure(caps, 0)));
  return TRUE;
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  PublishFilter& filter = Type::state_of(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    call(base, &PublishFilter::drain);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) {
    filter.tell_publisher(&Publisher::interrupt);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    filter.tell_publisher(&Publisher::resume);
  }
  return Type::parent_class()->sink_event(base, event);
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    return Type::state_of(base).publish(buffer, base->segment) ? GST_FLOW_OK : GST_FLOW_FLUSHING;
  } catch (...) {
    post_caught(GST_ELEMENT(base), Step::kWrite);
    return GST_FLOW_ERROR;
  }
}

/// The base class waits for the frame on its way before it stops.
GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    Type::state_of(element).tell_publisher(&Publisher::refuse);
  }
  return GST_ELEMENT_CLASS(Type::parent_class())->change_state(element, transition);
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(publish_debug, "npupublish", 0, "writes detections as JSON lines");
  Properties<Type, publish_properties>::install(klass);

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
  for (const auto& row : publish_properties()) specs.push_back(row.spec);
  return specs;
}

}  // namespace gstnpu
