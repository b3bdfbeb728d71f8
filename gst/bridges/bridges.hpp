// FrameAnswer and what others attach to frames: GstAnalytics, and DL Streamer's regions.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>

#include "answers/frame_answer.hpp"

namespace gstnpu {

/// The frame's answer, and what others attached that is not in it. `size`: by the caps; without it,
/// regions count in whole pixels. Empty where an element changed the frame and told nobody how: all
/// places would be wrong. Never null.
GST_NPU_META_API std::shared_ptr<const FrameAnswer> read_answer(
    GstBuffer* buffer, std::optional<npu::vision::FrameSize> size);

/// Reads the answer of a writable buffer to change it. It goes back with write_answer().
GST_NPU_META_API FrameAnswer take_answer(GstBuffer* buffer, npu::vision::FrameSize size);
/// Puts it on the buffer, and into others' metas what they do not have.
GST_NPU_META_API void write_answer(GstBuffer* buffer, FrameAnswer answer);

/// A coordinate as its producer meant it: one below zero comes as a huge one of a region's unsigned
/// fields.
inline double with_sign(double pixels) {
  constexpr double kModulus = 4294967296.0;
  return pixels >= kModulus / 2 && pixels < kModulus ? pixels - kModulus : pixels;
}

}  // namespace gstnpu
