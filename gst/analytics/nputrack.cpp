// nputrack: the element around FrameTracker.
#include "common/elements.hpp"
#include "common/meta_transform.hpp"
#include "common/missing_answers.hpp"

#include "frame_tracker.hpp"

GST_DEBUG_CATEGORY_STATIC(nputrack_debug);
#define GST_CAT_DEFAULT nputrack_debug

namespace gstnpu {
namespace {

/// State of an instance.
class Track : public MetaState<TrackSettings> {
 public:
  Track(GstBaseTransform* base, GstBaseTransformClass*) : MetaState(base) {}

  void start();
  void set_frames(const npu::vision::FrameSize& size, const GstCaps* in, const GstCaps* out);
  void reset();
  void process(GstBuffer* buffer, const GstSegment& segment);
  void fail(const std::exception& error) {
    GST_ELEMENT_ERROR(element(), STREAM, FAILED, ("Cannot track objects: %s.", error.what()),
                      (nullptr));
  }

  /// The property "stats"; the caller frees it.
  GstStructure* stats() const;

 private:
  void count(const TrackedFrame& done);

  // Guarded by mutex():
  guint64 frames_ = 0, frames_predicted_ = 0, objects_ = 0, identified_ = 0, predicted_ = 0,
          refused_ = 0, identities_ = 0;

  TrackSettings active_;
  FrameTracker tracker_;
  FrameClock clock_;
  MissingAnswers missing_answers_;
};

void Track::start() {
  tracker_ = FrameTracker();
  clock_ = FrameClock();
  missing_answers_ = MissingAnswers();
  forget_settings();
  const std::scoped_lock lock(mutex());
  frames_ = frames_predicted_ = objects_ = identified_ = predicted_ = refused_ = identities_ = 0;
}

void Track::set_frames(const npu::vision::FrameSize& size, const GstCaps* in, const GstCaps* out) {
  clock_.set_frame_seconds(frame_seconds(gst_caps_get_structure(in, 0)));
  if (size.width != frame().width || size.height != frame().height) {
    reset();
  }
  MetaState::set_frames(size, in, out);
}

void Track::reset() {
  tracker_.reset();
  clock_.reset();
}

void Track::process(GstBuffer* buffer, const GstSegment& segment) {
  if (const auto settings = new_settings()) {
    active_ = *settings;
    tracker_.configure(active_);
  }
  missing_answers_.look_at(element(), buffer, frame());
  if (clock_.is_behind_cut(buffer, segment)) {
    reset();
  }
  const double seconds = clock_.time_of(buffer, segment, active_.max_age_ms / 1e3);
  const TrackedFrame done = tracker_.track(buffer, seconds, frame());
  GST_LOG_OBJECT(element(), "%.6f s: %zu objects, %zu identified, %zu predicted", seconds,
                 done.objects, done.identified, done.predicted);
  count(done);
}

void Track::count(const TrackedFrame& done) {
  const std::scoped_lock lock(mutex());
  ++frames_;
  frames_predicted_ += done.is_predicted ? 1 : 0;
  objects_ += done.objects;
  identified_ += done.identified;
  predicted_ += done.predicted;
  refused_ += done.refused;
  identities_ = tracker_.last_id();
}

GstStructure* Track::stats() const {
  const std::scoped_lock lock(mutex());
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

using Element = MetaTransform<Track>;

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nputrack_debug, "nputrack", 0, "gives objects identities");
  Element::set_up<properties>(
      klass, {"NPU object tracker", "Filter/Analyzer/Video",
              "Gives objects identities that last, and frames between inferences their objects"});
}

}  // namespace

gboolean register_nputrack(GstPlugin* plugin) {
  return gst_element_register(
      plugin, "nputrack", GST_RANK_NONE,
      Element::Type::get<class_init>("GstNpuTrack", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
