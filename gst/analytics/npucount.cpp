// npucount: counts objects in zones and across lines.
#include <optional>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/count_places.hpp>
#include <npuvision/counter.hpp>

#include "answers/anchor.hpp"
#include "bridges/bridges.hpp"
#include "common/elements.hpp"
#include "common/label_list.hpp"
#include "common/meta_transform.hpp"
#include "common/missing_answers.hpp"

GST_DEBUG_CATEGORY_STATIC(npucount_debug);
#define GST_CAT_DEFAULT npucount_debug

namespace gstnpu {
namespace {

using npu::vision::CountPlaces;
using npu::vision::Sighting;

struct CountSettings {
  std::string places, location, object_class, initial_counts;
  Anchor anchor = Anchor::kBottom;
  std::uint32_t max_age_ms = 1000;
  float margin = 0.01F;
  bool messages = true;
};

/// State of an instance.
class Count : public MetaState<CountSettings> {
 public:
  Count(GstBaseTransform* base, GstBaseTransformClass*) : MetaState(base) {}

  /// Throws npu::Error where there is nothing to count at.
  void start();
  void set_frames(const npu::vision::FrameSize& size, const GstCaps* in, const GstCaps* out);
  void reset();
  void process(GstBuffer* buffer, const GstSegment& segment);

 private:
  void take_sightings(const FrameAnswer& answer);
  void tell_that_nothing_is_identified();
  void add_counts(FrameCounts* counts) const;
  void tell(const npu::vision::CountEvent& event, GstClockTime pts);

  CountSettings active_;
  LabelList classes_;
  std::optional<npu::vision::Counter> counter_;
  FrameClock clock_;
  MissingAnswers missing_answers_;
  std::vector<Sighting> sightings_;
  bool has_unidentified_ = false;  // objects of this frame
  guint frames_in_vain_ = 0;       // with objects, and never an identity
  bool was_identified_ = false;    // any object since the start
};

/// 0..1 of the frame. A box that reaches below the frame stands on its lower edge.
npu::vision::FramePoint place_of(const FoundObject& object, Anchor anchor,
                                 const npu::vision::FrameSize& frame) {
  auto [x, y] = point_of(object, anchor);
  if (anchor == Anchor::kBottom && object.y < frame.height) {
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
  return settings.places.empty() ? npu::vision::read_count_places(settings.location)
                                 : npu::vision::count_places_from_json(settings.places, "places");
}

void Count::start() {
  active_ = settings();
  classes_ = LabelList(active_.object_class);
  CountPlaces places = places_of(active_);
  counter_.emplace(std::move(places.zones), std::move(places.lines), active_.max_age_ms / 1e3,
                   active_.margin);
  if (!active_.initial_counts.empty()) {
    npu::vision::set_totals(active_.initial_counts, "initial-counts", &*counter_);
  }
  clock_ = FrameClock();
  missing_answers_ = MissingAnswers();
  frames_in_vain_ = 0;
  was_identified_ = false;
}

void Count::set_frames(const npu::vision::FrameSize& size, const GstCaps* in, const GstCaps* out) {
  clock_.set_frame_seconds(frame_seconds(gst_caps_get_structure(in, 0)));
  if (size.width != frame().width || size.height != frame().height) {
    reset();
  }
  MetaState::set_frames(size, in, out);
}

void Count::reset() {
  if (counter_) {
    counter_->forget_objects();
  }
  clock_.reset();
}

void Count::take_sightings(const FrameAnswer& answer) {
  sightings_.clear();
  has_unidentified_ = false;
  for (const FoundObject& object : answer.objects) {
    if (!classes_.has(object.label)) continue;
    if (!object.identity) {
      has_unidentified_ = true;
      continue;
    }
    sightings_.push_back({object.identity->id, place_of(object, active_.anchor, frame())});
  }
}

/// Once. Trackers give an identity only to what they have found several times.
void Count::tell_that_nothing_is_identified() {
  constexpr guint kPatience = 30;  // frames
  was_identified_ = was_identified_ || !sightings_.empty();
  if (was_identified_ || !has_unidentified_ || ++frames_in_vain_ != kPatience) return;
  post_warning(element(),
               "the objects have no identities, and nothing is counted: put nputrack in front of "
               "npucount");
}

/// To those of an npucount in front.
void Count::add_counts(FrameCounts* counts) const {
  const auto append = [](auto from, auto* to) { to->insert(to->end(), from.begin(), from.end()); };
  append(counter_->zone_counts(), &counts->zones);
  append(counter_->line_counts(), &counts->lines);
  append(counter_->events(), &counts->events);
}

void Count::tell(const npu::vision::CountEvent& event, GstClockTime pts) {
  GstStructure* structure = gst_structure_new(
      "npu-count", "event", G_TYPE_STRING, to_string(event.kind), "place", G_TYPE_STRING,
      event.place.c_str(), "id", G_TYPE_UINT64, event.id, "pts", G_TYPE_UINT64, pts, nullptr);
  if (event.seconds) {
    gst_structure_set(structure, "seconds", G_TYPE_DOUBLE, *event.seconds, nullptr);
  }
  gst_element_post_message(element(), gst_message_new_element(GST_OBJECT(element()), structure));
}

void Count::process(GstBuffer* buffer, const GstSegment& segment) {
  if (clock_.is_behind_cut(buffer, segment)) {
    reset();
  }
  const double seconds = clock_.time_of(buffer, segment, active_.max_age_ms / 1e3);
  missing_answers_.look_at(element(), buffer, frame());
  FrameAnswer answer = take_answer(buffer, frame());
  take_sightings(answer);
  tell_that_nothing_is_identified();
  counter_->update(seconds, sightings_);
  const std::size_t told = answer.counts.events.size();
  add_counts(&answer.counts);
  // Not the counter's own: an application that hears of one may seek at once, and they are gone.
  for (std::size_t i = told; active_.messages && i < answer.counts.events.size(); ++i) {
    tell(answer.counts.events[i], GST_BUFFER_PTS(buffer));
  }
  write_answer(buffer, std::move(answer));
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
      property<C, &S::initial_counts>(g_param_spec_string(
          "initial-counts", "Initial counts",
          "Totals to go on from: a JSON line of npupublish, or its zones and lines", "",
          kUntilReady)),
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

using Element = MetaTransform<Count>;

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npucount_debug, "npucount", 0, "counts objects");
  Element::set_up<properties>(klass, {"NPU object counter", "Filter/Analyzer/Video",
                                      "Counts objects in zones and across lines"});
}

}  // namespace

gboolean register_npucount(GstPlugin* plugin) {
  return gst_element_register(
      plugin, "npucount", GST_RANK_NONE,
      Element::Type::get<class_init>("GstNpuCount", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
