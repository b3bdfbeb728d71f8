#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <span>
#include <vector>

#include "answer_meta.hpp"

namespace gstnpu {

/// Adds what GstAnalytics says of objects, whoever wrote it: to the region of the same object, else
/// as a region of its own. `metas` are those of `regions`. Nothing without GstAnalytics.
void add_relations(GstBuffer* buffer, std::span<GstVideoRegionOfInterestMeta* const> metas,
                   RegionDetail detail, std::vector<Region>* regions);

/// The best class of each classification of no object and of no segmentation, best first.
std::vector<ReadClass> frame_classes(GstBuffer* buffer);

}  // namespace gstnpu
