#pragma once

#include <gst/gst.h>

#include <span>
#include <string>

#include "answer_meta.hpp"

namespace gstnpu {

// Converts answers to structures of metas. Coordinates are normalised, so that they stay right when
// the frame is scaled. The caller owns the structures.

GstStructure* detection_structure(const npu::vision::Object& object, const std::string& label,
                                  npu::vision::FrameSize frame);
GstStructure* classification_structure(const ReadClass& found);
/// Holds x, y and confidence of each point in turn, and the ends of each bone.
GstStructure* key_points_structure(std::span<const npu::vision::KeyPoint> points,
                                   const npu::vision::Skeleton& skeleton,
                                   npu::vision::FrameSize frame);
GstStructure* mask_structure(const npu::vision::Mask& mask, const npu::vision::Answer& answer,
                             npu::vision::FrameSize frame);
GstStructure* embedding_structure(std::span<const float> values);

/// Holds the results that no object carries, with these classes, and maps that cover `place`; null
/// where there are none.
GstStructure* results_structure(const npu::vision::Answer& answer,
                                std::span<const ReadClass> classes, const MapPlace& place);
/// The maps alone; null where there are none.
GstStructure* maps_structure(const npu::vision::Answer& answer, const MapPlace& place);

}  // namespace gstnpu
