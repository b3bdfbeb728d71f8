// Maps a frame's pixels.
#pragma once

#include <gst/video/video.h>

namespace gstnpu {

/// A frame mapped for reading and writing.
class MappedFrame {
 public:
  /// Throws npu::Error where the memory cannot be mapped, or does not hold what the buffer claims.
  MappedFrame(const GstVideoInfo& info, GstBuffer* buffer);
  ~MappedFrame() { gst_video_frame_unmap(&frame_); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;
  GstVideoFrame* get() { return &frame_; }

 private:
  GstVideoFrame frame_{};
};

}  // namespace gstnpu
