// npuoverlay: draws results on the frames.
#include <gst/video/video.h>

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/error.hpp>

#include "answers/anchor.hpp"
#include "common/elements.hpp"
#include "common/meta_transform.hpp"
#include "common/missing_answers.hpp"
#include "common/upstream.hpp"

#include "attachment.hpp"
#include "canvas.hpp"
#include "drawing.hpp"
#include "painter.hpp"

GST_DEBUG_CATEGORY_STATIC(npuoverlay_debug);
#define GST_CAT_DEFAULT npuoverlay_debug

namespace gstnpu {
namespace {

enum class Mode { kAuto, kDraw, kAttach };

struct OverlaySettings : Look {
  Mode mode = Mode::kAuto;
};

/// State of an instance.
class Overlay : public MetaState<OverlaySettings> {
 public:
  Overlay(GstBaseTransform* base, GstBaseTransformClass*) : MetaState(base) {}

  Painter::Stats stats() const {
    const std::scoped_lock lock(mutex());
    return stats_;
  }

  Mode mode() const {
    const std::scoped_lock lock(mutex());
    return mode_;
  }

  // Streaming thread only:
  void start();
  /// Throws npu::Error for frames that cannot be drawn on.
  void set_frames(const npu::vision::FrameSize& size, const GstCaps* in, const GstCaps* out);
  /// Asks downstream, once caps are agreed on, whether it takes compositions. If it does not,
  /// negotiates other caps.
  void agree();
  bool attaches() const { return attaches_; }
  void process(GstBuffer* buffer, const GstSegment& segment);
  /// Starts over for another stream, or after a seek.
  void reset();

  // Any thread:
  bool may_attach() const { return mode() != Mode::kDraw && !is_refused_; }
  /// Asks again, because downstream may have changed.
  void ask_again() {
    is_refused_ = false;
    must_ask_ = true;
  }

 private:
  Painter::Stats stats_;     // guarded by mutex()
  Mode mode_ = Mode::kAuto;  // mode at start()
  // Downstream takes caps with compositions, as elements with ANY caps do, but no compositions.
  std::atomic<bool> is_refused_ = false;
  std::atomic<bool> must_ask_ = true;  // agree() has to ask again

  // Streaming thread only:
  Painter painter_;
  FrameClock clock_;
  MissingAnswers missing_answers_;
  bool comes_with_compositions_ = false, goes_with_compositions_ = false;  // by the caps
  bool attaches_ = false;
};

using Element = MetaTransform<Overlay>;
using Type = Element::Type;

/// Counters of the nearest npuinfer or npuimport upstream.
std::optional<BusyTime> busy_time_in_front_of(GstBaseTransform* base) {
  const auto inference = inference_in_front_of(GST_ELEMENT(base));
  if (!inference) return std::nullopt;
  GstStructure* stats = nullptr;
  g_object_get(inference.get(), "stats", &stats, nullptr);
  const StructureRef owned(stats);
  BusyTime time;
  if (!stats || !gst_structure_get_uint64(stats, "busy-time", &time.busy_ns) ||
      !gst_structure_get_uint64(stats, "wall-time", &time.wall_ns)) {
    return std::nullopt;
  }
  return time;
}

void Overlay::start() {
  painter_ = Painter([base = base()] { return busy_time_in_front_of(base); });
  clock_ = FrameClock();
  missing_answers_ = MissingAnswers();
  attaches_ = false;
  ask_again();
  const Mode mode = settings().mode;
  const std::scoped_lock lock(mutex());
  mode_ = mode;
  stats_ = {};
}

void Overlay::set_frames(const npu::vision::FrameSize& size, const GstCaps* in,
                         const GstCaps* out) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, in)) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "these frames cannot be drawn on: put videoconvert in front of npuoverlay");
  }
  MetaState::set_frames(size, in, out);
  painter_.set_frames(info);
  clock_.set_frame_seconds(frame_seconds(gst_caps_get_structure(in, 0)));
  comes_with_compositions_ = has_composition_feature(in);
  goes_with_compositions_ = has_composition_feature(out);
  must_ask_ = true;
}

/// Asks downstream with the caps that were agreed on.
bool takes_compositions(GstPad* source) {
  const CapsRef caps(gst_pad_get_current_caps(source));
  const QueryRef query(gst_query_new_allocation(caps.get(), FALSE));
  return gst_pad_peer_query(source, query.get()) &&
         gst_query_find_allocation_meta(query.get(), GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
                                        nullptr);
}

void Overlay::agree() {
  if (!must_ask_.exchange(false)) return;
  attaches_ = mode() == Mode::kAttach;
  if (attaches_ || !goes_with_compositions_) return;
  attaches_ = comes_with_compositions_ || takes_compositions(GST_BASE_TRANSFORM_SRC_PAD(base()));
  if (attaches_) return;
  is_refused_ = true;
  gst_base_transform_reconfigure_src(base());
}

void Overlay::reset() {
  painter_.reset();
  clock_.reset();
}

void Overlay::process(GstBuffer* buffer, const GstSegment& segment) {
  constexpr double kPatience = 1;                // seconds
  if (gst_buffer_get_size(buffer) == 0) return;  // a gap has no picture
  if (clock_.is_behind_cut(buffer, segment)) {
    reset();
  }
  missing_answers_.look_at(element(), buffer, frame());
  painter_.paint(buffer, settings(), attaches_, clock_.time_of(buffer, segment, kPatience));
  const std::scoped_lock lock(mutex());
  stats_ = painter_.stats();
}

GstStructure* to_structure(const Painter::Stats& stats) {
  return gst_structure_new("stats", "frames", G_TYPE_UINT64, stats.frames, "drawn", G_TYPE_UINT64,
                           stats.drawn, "attached", G_TYPE_UINT64, stats.attached,
                           "labels-left-out", G_TYPE_UINT64, stats.labels_left_out, nullptr);
}

// ---- Properties

GType mode_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(Mode::kAuto), "Attach where downstream takes compositions, else draw",
       "auto"},
      {static_cast<gint>(Mode::kDraw), "Draw on the frames' pixels", "draw"},
      {static_cast<gint>(Mode::kAttach), "Attach GstVideoOverlayCompositionMeta to frames",
       "attach"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("NpuOverlayMode", values);
  return type;
}

std::vector<Property<Overlay>> properties() {
  using O = Overlay;
  const Look defaults;
  return {
      property<O, &OverlaySettings::mode>(g_param_spec_enum(
          "mode", "Mode", "Whether frames are drawn on, or what is drawn goes with them",
          mode_type(), static_cast<gint>(Mode::kAuto), kUntilReady)),
      property<O, &Look::with_labels>(g_param_spec_boolean(
          "labels", "Labels", "Whether labels, confidences and classes are written", TRUE,
          kWhilePlaying)),
      property<O, &Look::with_masks>(
          g_param_spec_boolean("masks", "Masks", "Whether masks are drawn", TRUE, kWhilePlaying)),
      property<O, &Look::with_maps>(g_param_spec_boolean(
          "maps", "Maps",
          "Whether maps of classes, depth and anomalies are drawn, with a legend of the classes",
          TRUE, kWhilePlaying)),
      property<O, &Look::with_places>(g_param_spec_boolean(
          "places", "Places", "Whether npucount's zones and lines are drawn, with their counts",
          TRUE, kWhilePlaying)),
      property<O, &Look::with_statistics>(g_param_spec_boolean(
          "statistics", "Statistics line",
          "Whether frames a second, inference time, utilisation and objects are written at the "
          "bottom left",
          FALSE, kWhilePlaying)),
      property<O, &Look::mask_opacity>(g_param_spec_float(
          "mask-opacity", "Opacity of masks and maps", "0: not seen, 1: hides the pixels", 0, 1,
          defaults.mask_opacity, kWhilePlaying)),
      property<O, &Look::line_width>(g_param_spec_uint("line-width", "Line width",
                                                       "Pixels; 0: by the frame's height", 0, 100,
                                                       0, kWhilePlaying)),
      property<O, &Look::text_height>(g_param_spec_uint(
          "text-height", "Text height", "Pixels of a line; 0: by the frame's height", 0, 500, 0,
          kWhilePlaying)),
      property<O, &Look::trail_ms>(g_param_spec_uint(
          "trail-length", "Trail length",
          "How long the way of an object with an identity is seen, milliseconds; 0: not at all", 0,
          G_MAXINT, 0, kWhilePlaying)),
      property<O, &Look::trail_anchor>(g_param_spec_enum(
          "trail-anchor", "Trail anchor", "Which point of its box is where an object is",
          anchor_type(), static_cast<gint>(defaults.trail_anchor), kWhilePlaying)),
      {g_param_spec_boxed("stats", "Statistics",
                          "Frames since the start, those that were drawn on and those that got a "
                          "composition; labels that were not written",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const O& overlay, GValue* value) {
         g_value_take_boxed(value, to_structure(overlay.stats()));
       }},
  };
}

// ---- Transform

GstCaps* transform_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  CapsRef other = caps_of_other_side(direction, caps, Type::state_of(base).may_attach());
  return filter ? gst_caps_intersect_full(filter, other.get(), GST_CAPS_INTERSECT_FIRST)
                : other.release();
}

GstCaps* fixate_caps(GstBaseTransform*, GstPadDirection direction, GstCaps*, GstCaps* other) {
  if (direction == GST_PAD_SRC) return gst_caps_fixate(other);
  const CapsRef all(other);
  return gst_caps_fixate(chosen_of(other).release());
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* base, GstBuffer* input, GstBuffer** output) {
  Type::state_of(base).agree();
  if (Type::state_of(base).attaches()) return Element::prepare_for_metadata(base, input, output);
  return Type::parent_class()->prepare_output_buffer(base, input, output);
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
  const bool has_caps = GST_EVENT_TYPE(event) == GST_EVENT_CAPS;
  if (has_caps) {
    Type::state_of(base).ask_again();
  }
  const gboolean is_taken = Element::sink_event(base, event);
  if (has_caps && is_taken) {
    Type::state_of(base).agree();
  }
  return is_taken;
}

gboolean src_event(GstBaseTransform* base, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE) {
    Type::state_of(base).ask_again();
  }
  return Type::parent_class()->src_event(base, event);
}

std::string drawn_caps() {
  std::string formats;
  guint count = 0;
  const GstVideoFormat* all = gst_video_formats_raw(&count);
  for (const GstVideoFormat format : std::span(all, count)) {
    const GstVideoFormatInfo* info = gst_video_format_get_info(format);
    if (!Canvas::draws_on(*info)) continue;
    formats += (formats.empty() ? "" : ", ") + std::string(info->name);
  }
  const CapsRef caps(
      gst_caps_from_string(("video/x-raw, format={" + formats +
                            "}; video/x-raw(memory:DMABuf), format={" + formats + "}")
                               .c_str()));
  gst_caps_append(caps.get(), with_composition_feature(caps.get()).release());
  return TextRef(gst_caps_to_string(caps.get())).get();
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npuoverlay_debug, "npuoverlay", 0, "draws what was found");
  Element::set_up<properties>(
      klass,
      {"NPU overlay", "Filter/Editor/Video",
       "Draws boxes, labels, masks, maps, key points and classes on frames"},
      drawn_caps().c_str());
  klass->transform_caps = transform_caps;
  klass->fixate_caps = fixate_caps;
  klass->prepare_output_buffer = prepare_output_buffer;
  klass->sink_event = sink_event;
  klass->src_event = src_event;
}

}  // namespace

gboolean register_npuoverlay(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuoverlay", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuOverlay", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
