// npucount: counts objects in zones and across lines.
#include <gst/base/gstbasetransform.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/counter.hpp>

#include "common/bus.hpp"
#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/in_place.hpp"
#include "common/label_list.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"

#include "anchor.hpp"
#include "answer_meta.hpp"
#include "count_meta.hpp"
#include "count_places.hpp"
#include "frame_stream.hpp"
#include "lost_results.hpp"

GST_DEBUG_CATEGORY_STATIC(npucount_debug);
#define GST_CAT_DEFAULT npucount_debug

namespace gstnpu {
namespace {

using npu::vision::Sighting;

struct CountSettings {
  std::string places, location, object_class;
  Anchor anchor = Anchor::kBottom;
  std::uint32_t max_age_ms = 1000;
  float margin = 0.01F;
  bool messages = true;
};

/// State of an instance.
class Count {
 public:
  Count(GstBaseTransform* base, GstBaseTransformClass*) {
    gst_base_transform_set_in_place(base, TRUE);
  }

  CountSettings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    change(settings_);
  }

  /// Throws npu::Error where there is nothing to count at.
  void start();
  /// The rest is for the streaming thread.
  void set_frame(const npu::vision::FrameSize& frame, double frame_seconds);
  /// Another stream, or another place of it.
  void reset();
  void count(GstElement* element, GstBuffer* buffer, const GstSegment& segment);

 private:
  void take_sightings(GstBuffer* buffer);
  void tell_that_nothing_is_identified(GstElement* element);

  mutable std::mutex mutex_;  // guards settings_
  CountSettings settings_;

  // Streaming thread only:
  CountSettings active_;
  LabelList classes_;
  std::optional<npu::vision::Counter> counter_;
  FrameClock clock_;
  LostResults lost_results_;
  npu::vision::FrameSize frame_;
  std::vector<Sighting> sightings_;
  bool has_unidentified_ = false;  // objects of this frame
  guint frames_in_vain_ = 0;       // with objects, and never an identity
  bool was_identified_ = false;    // any object since the start
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, Count>;

/// 0..1 of the frame. A box that reaches below the frame stands on its lower edge.
npu::vision::FramePoint place_of(const Region& region, Anchor anchor,
                                 const npu::vision::FrameSize& frame) {
  auto [x, y] = point_of(region, anchor);
  if (anchor == Anchor::kBottom && region.y < frame.height) {
    y = std::min<double>(y, frame.height);
  }
  return {x / frame.width, y / frame.height};
}

CountPlaces places_of(const CountSettings& settings) {
  if (settings.places.empty() == settings.location.empty()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "npucount needs zones or lines: set places, or location to a file with them, "
                     "and not both");
  }
  return settings.places.empty() ? read_count_places(settings.location)
                                 : parse_count_places(settings.places, "places");
}

void Count::start() {
  active_ = settings();
  classes_ = LabelList(active_.object_class);
  CountPlaces places = places_of(active_);
  counter_.emplace(std::move(places.zones), std::move(places.lines), active_.max_age_ms / 1e3,
                   active_.margin);
  clock_ = FrameClock();
  lost_results_ = LostResults();
  frame_ = {};
  frames_in_vain_ = 0;
  was_identified_ = false;
}

void Count::set_frame(const npu::vision::FrameSize& frame, double frame_seconds) {
  clock_.set_frame_seconds(frame_seconds);
  if (frame.width == frame_.width && frame.height == frame_.height) return;
  frame_ = frame;
  reset();
}

void Count::reset() {
  if (counter_) {
    counter_->forget_objects();
  }
  clock_.reset();
}

void Count::take_sightings(GstBuffer* buffer) {
  sightings_.clear();
  has_unidentified_ = false;
  for (const Region& region : read_regions(buffer, frame_, RegionDetail::kBox)) {
    if (!classes_.has(region.label)) continue;
    if (!region.tracking_id) {
      has_unidentified_ = true;
      continue;
    }
    sightings_.push_back({*region.tracking_id, place_of(region, active_.anchor, frame_)});
  }
}

/// Once. Trackers give an identity only to what they have found several times.
void Count::tell_that_nothing_is_identified(GstElement* element) {
  constexpr guint kPatience = 30;  // frames
  was_identified_ = was_identified_ || !sightings_.empty();
  if (was_identified_ || !has_unidentified_ || ++frames_in_vain_ != kPatience) return;
  post_warning(element,
               "the objects have no identities, and nothing is counted: put nputrack in front of "
               "npucount");
}

void Count::count(GstElement* element, GstBuffer* buffer, const GstSegment& segment) {
  const double seconds = clock_.time_of(buffer, segment, active_.max_age_ms / 1e3);
  lost_results_.look_at(element, buffer);
  take_sightings(buffer);
  tell_that_nothing_is_identified(element);
  counter_->update(seconds, sightings_);
  const FrameCounts counts = counts_of(*counter_);
  attach_counts(buffer, counts);
  if (!active_.messages) return;
  for (const auto& event : counts.events) {
    GstStructure* structure = event_structure("npu-count", event);
    gst_structure_set(structure, "pts", G_TYPE_UINT64, GST_BUFFER_PTS(buffer), nullptr);
    gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), structure));
  }
}

// ---- Properties

std::vector<Property<Count>> properties() {
  using C = Count;
  using S = CountSettings;
  const CountSettings defaults;
  return {
      property<C, &S::places>(g_param_spec_string(
          "places", "Places", "Zones and lines as JSON: docs/elements.md has its form", "",
          kUntilReady)),
      property<C, &S::location>(g_param_spec_string(
          "location", "Location", "A file with what places would have", "", kUntilReady)),
      property<C, &S::object_class>(g_param_spec_string(
          "object-class", "Object class",
          "Labels of the objects that are counted, separated by commas; empty: every object", "",
          kUntilReady)),
      property<C, &S::anchor>(
          g_param_spec_enum("anchor", "Anchor", "Which point of its box is where an object is",
                            anchor_type(), static_cast<gint>(defaults.anchor), kUntilReady)),
      property<C, &S::max_age_ms>(
          g_param_spec_uint("max-age", "Maximum age",
                            "How long an object that is not seen stays in its zones, milliseconds",
                            0, G_MAXINT, defaults.max_age_ms, kUntilReady)),
      property<C, &S::margin>(g_param_spec_float(
          "margin", "Margin",
          "How far an object gets from a zone that it leaves, and from a line before it crosses it "
          "again, 0 to 1 of the frame",
          0, 1, defaults.margin, kUntilReady)),
      property<C, &S::messages>(g_param_spec_boolean(
          "messages", "Messages",
          "Post an element message \"npu-count\" for each that enters, leaves or crosses",
          defaults.messages, kUntilReady)),
  };
}

// ---- Transform

gboolean start(GstBaseTransform* base) {
  try {
    Type::state_of(base).start();
    return TRUE;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(base), error, "");
    return FALSE;
  }
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  const auto size = required_frame_size(GST_ELEMENT(base), caps);
  if (!size) return FALSE;
  Type::state_of(base).set_frame(*size, frame_seconds(gst_caps_get_structure(caps, 0)));
  return TRUE;
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    Type::state_of(base).count(GST_ELEMENT(base), buffer, base->segment);
    return GST_FLOW_OK;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(base), error, "");
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
  GST_DEBUG_CATEGORY_INIT(npucount_debug, "npucount", 0, "counts objects");
  register_count_meta();
  Properties<Type, properties>::install(klass);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, video_template("sink", GST_PAD_SINK));
  gst_element_class_add_pad_template(element_class, video_template("src", GST_PAD_SRC));
  gst_element_class_set_static_metadata(element_class, "NPU object counter",
                                        "Filter/Analyzer/Video",
                                        "Counts objects in zones and across lines", "npucore");

  klass->start = start;
  klass->set_caps = set_caps;
  klass->propose_allocation = propose_as_downstream;
  klass->decide_allocation = decide_on_no_pool;
  klass->prepare_output_buffer = prepare_for_metadata;
  klass->transform_ip = transform_ip;
  klass->sink_event = sink_event;
}

}  // namespace

gboolean register_npucount(GstPlugin* plugin) {
  return gst_element_register(plugin, "npucount", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuCount", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
