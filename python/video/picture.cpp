#include "picture.hpp"

#include <string>

#include <npucore/error.hpp>

namespace pynpu::video {
namespace {

class Mapped {
 public:
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) {
    if (!gst_video_frame_map(&frame_, &info, buffer, flags)) {
      throw npu::Error(npu::ErrorCode::kIo,
                       "the pixels of a frame cannot be mapped: they lie where the CPU does not "
                       "reach; give a launch= that ends in ! videoconvert");
    }
  }
  ~Mapped() { gst_video_frame_unmap(&frame_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  GstVideoFrame* get() { return &frame_; }

 private:
  GstVideoFrame frame_{};
};

std::string text_of(const GstCaps* caps) {
  const Ref<gchar> text(gst_caps_to_string(caps));
  return text.get();
}

}  // namespace

void Pictures::note_caps(GstSample* sample) {
  GstCaps* caps = gst_sample_get_caps(sample);
  if (caps == caps_.get()) return;
  GstVideoInfo info;
  const bool is_known = caps != nullptr && gst_video_info_from_caps(&info, caps) &&
                        GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_ENCODED;
  if (!is_known) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "frames of " + (caps != nullptr ? text_of(caps) : "no caps") +
                         " have no pixels that the CPU reads: give a launch= that ends in "
                         "! videoconvert");
  }
  caps_.reset(gst_caps_ref(caps));
  info_ = info;
  converter_.reset();
}

/// Hardware decoders tell what to cut off, and leave it in the planes.
Visible Pictures::visible_part(GstBuffer* buffer) const {
  if (const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer)) {
    return {crop->x, crop->y, crop->width, crop->height};
  }
  return {0, 0, static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&info_)),
          static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&info_))};
}

Visible Pictures::visible(GstSample* sample) {
  const std::scoped_lock lock(mutex_);
  note_caps(sample);
  return visible_part(gst_sample_get_buffer(sample));
}

/// Rows follow each other without GStreamer's padding to four bytes. All else is the frame's, as
/// the converter wants it.
GstVideoInfo Pictures::wanted(const Visible& part) const {
  GstVideoInfo info;
  gst_video_info_set_interlaced_format(&info, format_, GST_VIDEO_INFO_INTERLACE_MODE(&info_),
                                       part.width, part.height);
  info.fps_n = info_.fps_n;
  info.fps_d = info_.fps_d;
  info.stride[0] = static_cast<gint>(part.width * 3);
  info.size = gsize{part.width} * part.height * 3;
  return info;
}

void Pictures::convert(GstSample* sample, std::uint8_t* to) {
  const std::scoped_lock lock(mutex_);
  note_caps(sample);
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  const Visible part = visible_part(buffer);
  GstVideoInfo picture = wanted(part);
  if (!converter_ || !(part == converted_)) {
    const auto number = [](std::uint32_t value) { return static_cast<gint>(value); };
    converter_.reset(gst_video_converter_new(
        &info_, &picture,
        gst_structure_new("crop", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, number(part.x),
                          GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, number(part.y),
                          GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, number(part.width),
                          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, number(part.height),
                          nullptr)));
    converted_ = part;
  }
  if (!converter_) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "frames of " + text_of(caps_.get()) + " cannot be converted to pictures");
  }
  const Ref<GstBuffer> wrapped(gst_buffer_new_wrapped_full(
      static_cast<GstMemoryFlags>(0), to, picture.size, 0, picture.size, nullptr, nullptr));
  Mapped from(info_, buffer, GST_MAP_READ), into(picture, wrapped.get(), GST_MAP_WRITE);
  gst_video_converter_frame(converter_.get(), from.get(), into.get());
}

}  // namespace pynpu::video
