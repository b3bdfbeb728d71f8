#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <optional>
#include <string>
#include <vector>

#include "answer_meta.hpp"

namespace gstnpu {

// Writes answers to GstAnalytics. Without GstAnalytics nothing is written.

/// The id of the object of `roi` in the buffer's relation meta; `id` without GstAnalytics.
gint write_object(GstBuffer* buffer, const npu::vision::Object& object,
                  const GstVideoRegionOfInterestMeta& roi, gint id);

/// Whether the relation meta has an object with the region's id that is somewhere else: regions of
/// other elements have ids of their own.
bool is_of_another(GstBuffer* buffer, const GstVideoRegionOfInterestMeta& roi);

/// Writes a class of an object, which contains it, or of the whole frame where `object_id` is
/// nullopt.
void write_class(GstBuffer* buffer, std::optional<gint> object_id, const ReadClass& found);

// From GStreamer 1.26 on, which has a type for them: images whose pixels are numbers of regions,
// without padding, since GStreamer's own overlay knows none.

/// Writes the mask of the answer's object `index`, which contains it: one region, 0 outside the
/// object.
void write_mask(GstBuffer* buffer, gint object_id, const npu::vision::Answer& answer,
                std::size_t index);

/// Semantic segmentation: a region for each class up to the highest, its number that of the class,
/// and a classification with their labels in the same order. Contained by an object where there is
/// one.
void write_class_map(GstBuffer* buffer, std::optional<gint> object_id,
                     const npu::vision::Map<guint16>& map, const std::vector<std::string>& labels,
                     const MapPlace& place, npu::vision::FrameSize frame);

}  // namespace gstnpu
