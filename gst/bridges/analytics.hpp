// GstAnalyticsRelationMeta. Without GstAnalytics nothing is read nor written.
#pragma once

#include <gst/gst.h>

#include "draft.hpp"

namespace gstnpu {

/// Adds what others attached: objects, and what is related to them; classes of the frame.
void from_analytics(GstBuffer* buffer, Draft* draft);
/// Writes what the relation meta does not have. Masks and maps of classes need GStreamer 1.26.
void to_analytics(GstBuffer* buffer, FrameAnswer* answer);

}  // namespace gstnpu
