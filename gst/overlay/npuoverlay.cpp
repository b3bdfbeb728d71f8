// npuoverlay: draws what was found on the frames.
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/bus.hpp"
#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/in_place.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"

#include "canvas.hpp"
#include "drawing.hpp"
#include "painter.hpp"

GST_DEBUG_CATEGORY_STATIC(npuoverlay_debug);
#define GST_CAT_DEFAULT npuoverlay_debug

namespace gstnpu {
namespace {

/// What an instance holds.
class Overlay {
 public:
  Overlay(GstBaseTransform* base, GstBaseTransformClass*) {
    gst_base_transform_set_in_place(base, TRUE);
  }

  Look settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    change(settings_);
  }

  Painter::Stats stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
  }

  // For the streaming thread.
  void start();
  /// Throws npu::Error for frames that nothing can be drawn on.
  void set_frames(const GstVideoInfo& info) { painter_.set_frames(info); }
  void draw(GstBuffer* buffer);

 private:
  mutable std::mutex mutex_;  // guards settings_ and stats_
  Look settings_;
  Painter::Stats stats_;

  Painter painter_;  // of the streaming thread
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, Overlay>;

void Overlay::start() {
  painter_ = Painter();
  const std::scoped_lock lock(mutex_);
  stats_ = {};
}

void Overlay::draw(GstBuffer* buffer) {
  painter_.paint(buffer, settings());
  const std::scoped_lock lock(mutex_);
  stats_ = painter_.stats();
}

GstStructure* to_structure(const Painter::Stats& stats) {
  return gst_structure_new("stats", "frames", G_TYPE_UINT64, stats.frames, "drawn", G_TYPE_UINT64,
                           stats.drawn, "labels-left-out", G_TYPE_UINT64, stats.labels_left_out,
                           nullptr);
}

// ---- Properties

std::vector<Property<Overlay>> properties() {
  using O = Overlay;
  const Look defaults;
  return {
      property<O, &Look::with_labels>(g_param_spec_boolean(
          "labels", "Labels", "Whether labels, confidences and classes are written", TRUE,
          kWhilePlaying)),
      property<O, &Look::with_masks>(
          g_param_spec_boolean("masks", "Masks", "Whether masks are drawn", TRUE, kWhilePlaying)),
      property<O, &Look::mask_opacity>(g_param_spec_float("mask-opacity", "Opacity of masks",
                                                          "0: not seen, 1: hides the pixels", 0, 1,
                                                          defaults.mask_opacity, kWhilePlaying)),
      property<O, &Look::line_width>(g_param_spec_uint("line-width", "Line width",
                                                       "Pixels; 0: by the frame's height", 0, 100,
                                                       0, kWhilePlaying)),
      property<O, &Look::text_height>(g_param_spec_uint(
          "text-height", "Text height", "Pixels of a line; 0: by the frame's height", 0, 500, 0,
          kWhilePlaying)),
      {g_param_spec_boxed("stats", "Statistics",
                          "Frames since the start, and those that were drawn on; labels that were "
                          "not written",
                          GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const O& overlay, GValue* value) {
         g_value_take_boxed(value, to_structure(overlay.stats()));
       }},
  };
}

// ---- Transform

gboolean start(GstBaseTransform* base) {
  Type::state_of(base).start();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) {
    GST_ELEMENT_ERROR(base, STREAM, FORMAT,
                      ("These frames cannot be drawn on: put videoconvert in front of npuoverlay."),
                      ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  try {
    Type::state_of(base).set_frames(info);
    return TRUE;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(base), error, "");
    return FALSE;
  }
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    Type::state_of(base).draw(buffer);
    return GST_FLOW_OK;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(base), error, "");
    return GST_FLOW_ERROR;
  }
}

GstPadTemplate* video_template(const gchar* name, GstPadDirection direction) {
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
  return gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get());
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npuoverlay_debug, "npuoverlay", 0, "draws what was found");
  Properties<Type, properties>::install(klass);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, video_template("sink", GST_PAD_SINK));
  gst_element_class_add_pad_template(element_class, video_template("src", GST_PAD_SRC));
  gst_element_class_set_static_metadata(
      element_class, "NPU overlay", "Filter/Editor/Video",
      "Draws boxes, labels, masks, key points and classes on frames", "npucore");

  klass->start = start;
  klass->set_caps = set_caps;
  klass->propose_allocation = propose_as_downstream;
  klass->decide_allocation = decide_on_no_pool;
  klass->transform_ip = transform_ip;
}

}  // namespace

gboolean register_npuoverlay(GstPlugin* plugin) {
  return gst_element_register(plugin, "npuoverlay", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuOverlay", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu
