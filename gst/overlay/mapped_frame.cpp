#include "mapped_frame.hpp"

#include <string>

#include <npucore/error.hpp>

#include "common/memory_size.hpp"
#include "common/video_frame.hpp"

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

}  // namespace

MappedFrame::MappedFrame(const GstVideoInfo& info, GstBuffer* buffer) {
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

}  // namespace gstnpu
