// Identities on buffers, as others write and read them.
#pragma once

#include <gst/gst.h>

#include "answer_meta.hpp"

namespace gstnpu {

struct Identity {
  guint64 id = 0;                                    ///< the same in all frames
  GstClockTime first_seen_ns = 0, last_seen_ns = 0;  ///< of the stream
};

/// Gives a region of a writable buffer an identity: its GstVideoRegionOfInterestMeta a structure
/// "object_id" as DL Streamer's gvatrack writes it, its object of GstAnalytics a
/// GstAnalyticsTrackingMtd.
void attach_identity(GstBuffer* buffer, const Region& region, const Identity& identity);

/// Whether an inference looked at the whole frame, as far as the buffer tells.
bool is_inferred(GstBuffer* buffer);

}  // namespace gstnpu
