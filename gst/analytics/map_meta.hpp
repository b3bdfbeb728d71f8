// Maps that models made, on buffers.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include <npuvision/answer.hpp>

#include "answer_meta.hpp"

namespace gstnpu {

/// Maps for the part that a model saw: the whole frame, its middle, or an object.
struct FrameMaps {
  MapPlace place;
  std::optional<gint> object_id;      ///< of the object; none: of the frame
  npu::vision::Map<guint16> classes;  ///< label ids
  npu::vision::Map<float> values;     ///< depth, or 0..1 of an anomaly
  bool has_anomaly = false;           ///< the values come with one
  const char* card = nullptr;  ///< what is known about the model, as the inference's meta has it
};

/// Reads the maps of each model that made any, those of whole frames first. Leaves out maps that do
/// not fit their size, and maps of objects whose place is not known. `card` is borrowed from the
/// buffer.
std::vector<FrameMaps> read_maps(GstBuffer* buffer);

}  // namespace gstnpu
