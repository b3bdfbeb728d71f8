#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <optional>

#include "answer_meta.hpp"

namespace gstnpu {

// What an answer is in GstAnalytics. Without GstAnalytics nothing is written.

/// The id of the object of `roi` in the buffer's relation meta; `id` without GstAnalytics.
gint write_object(GstBuffer* buffer, const npu::vision::Object& object,
                  const GstVideoRegionOfInterestMeta& roi, gint id);

/// Whether the relation meta has an object with the region's id that is somewhere else: regions of
/// other elements have ids of their own.
bool is_of_another(GstBuffer* buffer, const GstVideoRegionOfInterestMeta& roi);

/// Of an object, which contains it, or of the whole frame where `object_id` is none.
void write_class(GstBuffer* buffer, std::optional<gint> object_id, const ReadClass& found);

}  // namespace gstnpu
