#include "frame_witness.hpp"

#include <gst/allocators/allocators.h>
#include <meta/npumeta.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>

#include "gst/frames.hpp"

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/video/video-info-dma.h>
#endif

namespace npu::test {
namespace {

using gstnpu::BufferRef;
using gstnpu::CapsRef;

std::optional<GstVideoInfo> video_info(const GstCaps* caps) {
  GstVideoInfo info;
#if GST_CHECK_VERSION(1, 24, 0)
  if (gst_video_is_dma_drm_caps(caps)) {
    GstVideoInfoDmaDrm drm;
    if (!gst_video_info_dma_drm_from_caps(&drm, caps)) return std::nullopt;
    if (!gst_video_info_dma_drm_to_video_info(&drm, &info)) return std::nullopt;
    return info;
  }
#endif
  if (!gst_video_info_from_caps(&info, caps)) return std::nullopt;
  return info;
}

/// The component that a plane's geometry is told by.
guint component_of(const GstVideoFormatInfo* format, guint plane) {
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); ++c) {
    if (GST_VIDEO_FORMAT_INFO_PLANE(format, c) == plane) return c;
  }
  return 0;
}

void copy_plane(const GstVideoFrame& from, const GstVideoCropMeta* crop, GstVideoFrame& to,
                guint plane) {
  const GstVideoFormatInfo* format = to.info.finfo;
  const guint c = component_of(format, plane);
  const gsize pixel_bytes = static_cast<gsize>(GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c));
  const gsize left = crop ? crop->x >> GST_VIDEO_FORMAT_INFO_W_SUB(format, c) : 0;
  const gsize top = crop ? crop->y >> GST_VIDEO_FORMAT_INFO_H_SUB(format, c) : 0;
  const auto row_bytes = static_cast<gsize>(GST_VIDEO_FRAME_COMP_WIDTH(&to, c)) * pixel_bytes;
  const auto from_stride = static_cast<gsize>(GST_VIDEO_FRAME_PLANE_STRIDE(&from, plane));
  const auto to_stride = static_cast<gsize>(GST_VIDEO_FRAME_PLANE_STRIDE(&to, plane));
  const auto* in = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&from, plane)) +
                   top * from_stride + left * pixel_bytes;
  auto* out = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&to, plane));
  for (gint row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&to, c); ++row) {
    std::memcpy(out, in, row_bytes);
    in += from_stride;
    out += to_stride;
  }
}

BufferRef copy_pixels(GstBuffer* buffer, const GstVideoInfo& info) {
  BufferRef copy(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  GstVideoFrame from, to;
  if (!gst_video_frame_map(&from, &info, buffer, GST_MAP_READ)) return nullptr;
  gst_video_frame_map(&to, &info, copy.get(), GST_MAP_WRITE);
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    copy_plane(from, crop, to, plane);
  }
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  GST_BUFFER_PTS(copy.get()) = GST_BUFFER_PTS(buffer);
  return copy;
}

std::string kind_of(GstMemory* memory) {
  if (gst_is_dmabuf_memory(memory)) return "DMA-BUF";
  if (gst_is_fd_memory(memory)) return "memory with a file";
  if (memory->allocator && gst_memory_is_type(memory, "NpuMemory")) return "NPU memory";
  return "ordinary memory";
}

template <class Function>
void add_probe(GstElement* element, const char* pad_name, FrameWitness* witness, Function) {
  GstPad* watched = gst_element_get_static_pad(element, pad_name);
  gst_pad_add_probe(
      watched, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
        Function()(pad, GST_PAD_PROBE_INFO_BUFFER(info), self);
        return GST_PAD_PROBE_OK;
      },
      witness, nullptr);
  gst_object_unref(watched);
}

}  // namespace

FrameWitness::FrameWitness(GstElement* npu, bool keep_pixels) : keep_pixels_(keep_pixels) {
  add_probe(npu, "sink", this, [](GstPad* pad, GstBuffer* buffer, gpointer self) {
    static_cast<FrameWitness*>(self)->see_input(pad, buffer);
  });
  add_probe(npu, "src", this, [](GstPad*, GstBuffer* buffer, gpointer self) {
    static_cast<FrameWitness*>(self)->see_output(buffer);
  });
}

void FrameWitness::see_input(GstPad* pad, GstBuffer* buffer) {
  const CapsRef caps(gst_pad_get_current_caps(pad));
  const std::scoped_lock lock(mutex_);
  ++frames_in_;
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    memory_kinds_.insert(kind_of(memory) + (count > 1 ? " x " + std::to_string(count) : ""));
    struct stat file {};
    if (!gst_is_fd_memory(memory) || fstat(gst_fd_memory_get_fd(memory), &file) != 0) continue;
    inodes_.insert(file.st_ino);
  }
  if (!caps) return;
  if (caps_.empty()) {
    gchar* text = gst_caps_to_string(caps.get());
    caps_ = text;
    g_free(text);
  }
  const auto info = keep_pixels_ ? video_info(caps.get()) : std::nullopt;
  if (!info) return;
  if (plain_caps_.empty()) {
    const CapsRef plain(gst_video_info_to_caps(&*info));
    gchar* text = gst_caps_to_string(plain.get());
    plain_caps_ = text;
    g_free(text);
  }
  pixels_.push_back(copy_pixels(buffer, *info));
}

void FrameWitness::see_output(GstBuffer* buffer) {
  if (!keep_pixels_) return;
  std::vector<float> tensor = gstnpu::test::first_tensor(buffer);
  const std::scoped_lock lock(mutex_);
  tensors_.push_back(std::move(tensor));
}

guint64 FrameWitness::frames_in() const {
  const std::scoped_lock lock(mutex_);
  return frames_in_;
}

std::vector<BufferRef> FrameWitness::take_pixels() {
  const std::scoped_lock lock(mutex_);
  return std::move(pixels_);
}

std::vector<std::vector<float>> FrameWitness::take_tensors() {
  const std::scoped_lock lock(mutex_);
  return std::move(tensors_);
}

std::set<std::uint64_t> FrameWitness::inodes() const {
  const std::scoped_lock lock(mutex_);
  return inodes_;
}

std::string FrameWitness::memory_kinds() const {
  const std::scoped_lock lock(mutex_);
  std::string text;
  for (const std::string& kind : memory_kinds_) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

std::string FrameWitness::caps() const {
  const std::scoped_lock lock(mutex_);
  return caps_;
}

std::string FrameWitness::plain_caps() const {
  const std::scoped_lock lock(mutex_);
  return plain_caps_;
}

}  // namespace npu::test
