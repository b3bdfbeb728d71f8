// npuoverlay: draws what was found on the frames.
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/error.hpp>

#include "analytics/answer_meta.hpp"
#include "common/bus.hpp"
#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/in_place.hpp"
#include "common/memory_size.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"
#include "common/video_frame.hpp"
#include "meta/npumeta.h"

#include "canvas.hpp"
#include "drawing.hpp"

GST_DEBUG_CATEGORY_STATIC(npuoverlay_debug);
#define GST_CAT_DEFAULT npuoverlay_debug

namespace gstnpu {
namespace {

[[noreturn]] void refuse(const GstVideoMeta& meta) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the frame's GstVideoMeta tells of " + std::to_string(meta.width) + "x" +
                       std::to_string(meta.height) + " pixels of " +
                       gst_video_format_to_string(meta.format) +
                       ", which its memory does not hold or its caps deny: the element that makes "
                       "the frames is at fault");
}

/// A frame's pixels, mapped for reading and writing.
class MappedFrame {
 public:
  MappedFrame(const GstVideoInfo& info, GstBuffer* buffer) {
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    if (meta && meta->format != GST_VIDEO_INFO_FORMAT(&info)) {
      refuse(*meta);
    }
    require_bytes(buffer);
    if (!gst_video_frame_map(&frame_, &info, buffer, GST_MAP_READWRITE)) {
      throw npu::Error(npu::ErrorCode::kIo, "the frame's memory cannot be mapped for writing");
    }
    if (!meta || holds_all_rows(frame_)) return;
    gst_video_frame_unmap(&frame_);
    refuse(*meta);
  }
  ~MappedFrame() { gst_video_frame_unmap(&frame_); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;
  GstVideoFrame* get() { return &frame_; }

 private:
  GstVideoFrame frame_{};
};

std::string line_of(const ReadClass& said) {
  return said.confidence
             ? said.label + " " + std::to_string(std::lround(100 * *said.confidence)) + "%"
             : said.label;
}

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

  // For the streaming thread.
  /// Throws npu::Error for frames that nothing can be drawn on.
  void set_frames(const GstVideoInfo& info);
  void draw(GstBuffer* buffer);

 private:
  void prepare();

  mutable std::mutex mutex_;  // guards settings_
  Look settings_;

  // Of the streaming thread.
  GstVideoInfo info_{};
  std::optional<Canvas> canvas_;
  Look drawn_with_;
  std::optional<Drawing> drawing_;
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, Overlay>;

void Overlay::set_frames(const GstVideoInfo& info) {
  canvas_.emplace(info);
  info_ = info;
  drawing_.reset();
}

void Overlay::prepare() {
  const Look look = settings().for_height(GST_VIDEO_INFO_HEIGHT(&info_));
  if (drawing_ && look == drawn_with_) return;
  drawing_.emplace(look);
  drawn_with_ = look;
}

void Overlay::draw(GstBuffer* buffer) {
  prepare();
  const npu::vision::FrameSize size{static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&info_)),
                                    static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&info_))};
  // What is seen of the frame begins there.
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  constexpr guint kFarthest = 1 << 24;
  const int left = crop ? static_cast<int>(std::min(crop->x, kFarthest)) : 0;
  const int top = crop ? static_cast<int>(std::min(crop->y, kFarthest)) : 0;
  std::optional<MappedFrame> frame;  // a frame without results is not touched
  const auto blend = [&] {
    if (!frame && !drawing_->sprites().empty()) {
      frame.emplace(info_, buffer);
    }
    for (Sprite sprite : drawing_->sprites()) {
      sprite.x += left;
      sprite.y += top;
      canvas_->blend(sprite, frame->get());
    }
    drawing_->forget_sprites();
  };
  drawing_->begin(size);
  // The best comes first, and is to be on top; what is written on top of all.
  const std::vector<Region> regions = read_regions(buffer, size);
  for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
    drawing_->add(*region);
    blend();
  }
  for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
    drawing_->add_label(*region);
    blend();
  }
  for (const ReadClass& said : read_results(buffer).classes) {
    drawing_->add_line(line_of(said));
    blend();
  }
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
  };
}

// ---- Transform

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
