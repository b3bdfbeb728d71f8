// nputrack: the element around FrameTracker.
#include <gst/base/gstbasetransform.h>

#include <exception>
#include <mutex>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/in_place.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"

#include "frame_stream.hpp"
#include "frame_tracker.hpp"
#include "lost_results.hpp"

GST_DEBUG_CATEGORY_STATIC(nputrack_debug);
#define GST_CAT_DEFAULT nputrack_debug

namespace gstnpu {
namespace {

/// State of an instance.
class Track {
 public:
  Track(GstBaseTransform* base, GstBaseTransformClass*) {
    gst_base_transform_set_in_place(base, TRUE);
  }

  TrackSettings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    settings_changed_ = true;
    change(settings_);
  }

  void start();
  /// The rest is for the streaming thread.
  void set_frame(const npu::vision::FrameSize& frame, double frame_seconds);
  /// Another stream, or another place of it.
  void reset();
  void track(GstElement* element, GstBuffer* buffer, const GstSegment& segment);

  /// The property "stats"; the caller frees it.
  GstStructure* stats() const;

 private:
  void take_settings();
  void count(const TrackedFrame& done);

  mutable std::mutex mutex_;  // guards settings, settings_changed_ and the counters
  TrackSettings settings_;
  bool settings_changed_ = true;
  guint64 frames_ = 0, frames_predicted_ = 0, objects_ = 0, identified_ = 0, predicted_ = 0,
          refused_ = 0, identities_ = 0;

  // Streaming thread only:
  TrackSettings active_;
  FrameTracker tracker_;
  FrameClock clock_;
  LostResults lost_results_;
  UndecodedTensors undecoded_;
  npu::vision::FrameSize frame_;
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, Track>;

void Track::start() {
  tracker_ = FrameTracker();
  clock_ = FrameClock();
  lost_results_ = LostResults();
  undecoded_ = UndecodedTensors();
  frame_ = {};
  const std::scoped_lock lock(mutex_);
  settings_changed_ = true;
  frames_ = frames_predicted_ = objects_ = identified_ = predicted_ = refused_ = identities_ = 0;
}

void Track::set_frame(const npu::vision::FrameSize& frame, double frame_seconds) {
  clock_.set_frame_seconds(frame_seconds);
  if (frame.width == frame_.width && frame.height == frame_.height) return;
  frame_ = frame;
  reset();
}

void Track::reset() {
  tracker_.reset();
  clock_.reset();
}

void Track::take_settings() {
  const std::scoped_lock lock(mutex_);
  if (!settings_changed_) return;
  settings_changed_ = false;
  active_ = settings_;
  tracker_.configure(active_);
}

void Track::track(GstElement* element, GstBuffer* buffer, const GstSegment& segment) {
  take_settings();
  lost_results_.look_at(element, buffer);
  undecoded_.look_at(element, buffer);
  const double seconds = clock_.time_of(buffer, segment, active_.max_age_ms / 1e3);
  const TrackedFrame done = tracker_.track(buffer, seconds, frame_);
  GST_LOG_OBJECT(element, "%.6f s: %zu objects, %zu identified, %zu predicted", seconds,
                 done.objects, done.identified, done.predicted);
  count(done);
}

void Track::count(const TrackedFrame& done) {
  const std::scoped_lock lock(mutex_);
  ++frames_;
  frames_predicted_ += done.is_predicted ? 1 : 0;
  objects_ += done.objects;
  identified_ += done.identified;
  predicted_ += done.predicted;
  refused_ += done.refused;
  identities_ = tracker_.last_id();
}

GstStructure* Track::stats() const {
  const std::scoped_lock lock(mutex_);
  return gst_structure_new("stats", "frames", G_TYPE_UINT64, frames_, "frames-predicted",
                           G_TYPE_UINT64, frames_predicted_, "objects", G_TYPE_UINT64, objects_,
                           "objects-identified", G_TYPE_UINT64, identified_, "objects-predicted",
                           G_TYPE_UINT64, predicted_, "objects-refused", G_TYPE_UINT64, refused_,
                           "identities", G_TYPE_UINT64, identities_, nullptr);
}

// ---- Properties

std::vector<Property<Track>> properties() {
  using T = Track;
  using S = TrackSettings;
  const TrackSettings defaults;
  return {
      property<T, &S::object_class>(g_param_spec_string(
          "object-class", "Object class",
          "Labels of the objects that are tracked, separated by commas; empty: every object", "",
          kWhilePlaying)),
      property<T, &S::high_threshold>(g_param_spec_float(
          "high-threshold", "High threshold", "Least confidence of an object that begins a track",
          0, 1, defaults.high_threshold, kWhilePlaying)),
      property<T, &S::low_threshold>(g_param_spec_float(
          "low-threshold", "Low threshold",
          "Least confidence of an object that continues a track without a better match", 0, 1,
          defaults.low_threshold, kWhilePlaying)),
      property<T, &S::min_hits>(g_param_spec_uint(
          "min-hits", "Minimum hits",
          "How often an object must be found to get an identity; in the first frame once is enough",
          1, G_MAXINT, defaults.min_hits, kWhilePlaying)),
      property<T, &S::max_age_ms>(
          g_param_spec_uint("max-age", "Maximum age",
                            "How long an object that is not found keeps its identity, milliseconds",
                            0, G_MAXINT, defaults.max_age_ms, kWhilePlaying)),
      property<T, &S::across_labels>(
          g_param_spec_boolean("across-labels", "Across labels",
                               "Whether an object that is found with another label may be the same",
                               defaults.across_labels, kWhilePlaying)),
      property<T, &S::predict>(g_param_spec_boolean(
          "predict", "Predict",
          "Attach objects, where their movement leads them, to frames that were not inferred",
          defaults.predict, kWhilePlaying)),
      property<T, &S::inference_interval>(g_param_spec_uint(
          "inference-interval", "Inference interval",
          "For other projects' detectors, which do not say where they found nothing: of frames "
          "without objects every Nth counts as inferred",
          1, G_MAXINT, defaults.inference_interval, kWhilePlaying)),
      {g_param_spec_boxed("stats", "Statistics",
                          "Counters since start: frames, frames-predicted, objects, "
                          "objects-identified, objects-predicted, objects-refused, identities",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr, [](const T& track, GValue* value) { g_value_take_boxed(value, track.stats()); }},
  };
}

// ---- Transform

gboolean start(GstBaseTransform* base) {
  Type::state_of(base).start();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  const auto size = required_frame_size(GST_ELEMENT(base), caps);
  if (!size) return FALSE;
  Type::state_of(base).set_frame(*size, frame_seconds(gst_caps_get_structure(caps, 0)));
  return TRUE;
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    Type::state_of(base).track(GST_ELEMENT(base), buffer, base->segment);
    return GST_FLOW_OK;
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(base, STREAM, FAILED, ("Cannot track objects: %s.", error.what()), (nullptr));
    return GST_FLOW_ERROR;
  }
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  if (begins_anew(base, event)) {
    Type::state_of(base).reset();
  }
  return Type::parent_class()->sink_event(base, event);
}

GstPadTemplate* video_template(const gchar* name, GstPadDirection direction) {
  const CapsRef caps(gst_caps_from_string("video/x-raw(ANY)"));
  return gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get());
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nputrack_debug, "nputrack", 0, "gives objects identities");
  Properties<Type, properties>::install(klass);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, video_template("sink", GST_PAD_SINK));
  gst_element_class_add_pad_template(element_class, video_template("src", GST_PAD_SRC));
  gst_element_class_set_static_metadata(
      element_class, "NPU object tracker", "Filter/Analyzer/Video",
      "Gives objects identities that last, and frames between inferences their objects", "npucore");

  klass->start = start;
  klass->set_caps = set_caps;
  klass->propose_allocation = propose_as_downstream;
  klass->decide_allocation = decide_on_no_pool;
  klass->prepare_output_buffer = prepare_for_metadata;
  klass->transform_ip = transform_ip;
  klass->sink_event = sink_event;
}

}  // namespace

gboolean register_nputrack(GstPlugin* plugin) {
  return gst_element_register(plugin, "nputrack", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuTrack", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
