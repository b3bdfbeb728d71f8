#pragma once

#include <gst/video/video.h>

#include <mutex>
#include <optional>

#include <npuvision/answer.hpp>

#include "refs.hpp"

namespace pynpu::video {

/// The visible part of a frame, in pixels of its planes.
struct Visible {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Visible&) const = default;
};

/// Turns a stream's frames into rows of RGB or BGR, when somebody asks. Thread-safe.
class Pictures {
 public:
  explicit Pictures(GstVideoFormat format) : format_(format) {}
  /// Throws npu::Error for caps that are no frames in the CPU's reach.
  Visible visible(GstSample* sample);
  /// Maps the frame's pixels, and writes height * width * 3 bytes without padding.
  void convert(GstSample* sample, std::uint8_t* to);

 private:
  struct Free {
    void operator()(GstVideoConverter* converter) const noexcept {
      gst_video_converter_free(converter);
    }
  };
  void note_caps(GstSample* sample);
  Visible visible_part(GstBuffer* buffer) const;
  GstVideoInfo wanted(const Visible& part) const;

  const GstVideoFormat format_;
  std::mutex mutex_;  // guards all below
  Ref<GstCaps> caps_;
  GstVideoInfo info_{};
  std::unique_ptr<GstVideoConverter, Free> converter_;
  Visible converted_;
};

}  // namespace pynpu::video
