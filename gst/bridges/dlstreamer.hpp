// DL Streamer's form: GstVideoRegionOfInterestMeta with structures. Coordinates in them are
// normalised, so that they stay right when the frame is scaled.
#pragma once

#include <gst/gst.h>

#include <optional>

#include "draft.hpp"

namespace gstnpu {

/// Adds what others attached: regions, and structures of the answer's own.
void from_dlstreamer(GstBuffer* buffer, std::optional<npu::vision::FrameSize> frame, Draft* draft);
/// Writes what regions do not have; notes the same in the answer. Comes after to_analytics().
void to_dlstreamer(GstBuffer* buffer, FrameAnswer* answer);

/// Gives each region of a writable buffer an id of its own, by which inferences name objects: many
/// elements leave it at 0. An id that is there twice, or is one of a GstAnalytics object elsewhere
/// in the frame, is replaced.
GST_NPU_META_API void give_ids(GstBuffer* buffer, FrameAnswer* answer);

}  // namespace gstnpu
