#pragma once

#include <gst/gst.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor_view.hpp"

namespace gstnpu {

/// Adds to a writable buffer, for each detection, a GstVideoRegionOfInterestMeta with a "detection"
/// structure as DL Streamer writes it and, where GStreamer has it, an object of GstAnalytics with
/// the same id.
void attach_detections(GstBuffer* buffer, std::span<const Detection> detections,
                       const std::vector<std::string>& labels, FrameSize frame);

/// What a model said of one object.
struct ObjectClass {
  std::string label;
  std::optional<int> label_id;
  std::optional<double> confidence;
};

/// Adds it to the object with this id on a writable buffer, as a "classification" structure and,
/// where GStreamer has it, a classification of GstAnalytics that the object contains. Nothing where
/// the object is gone.
void attach_classification(GstBuffer* buffer, gint object_id, const ObjectClass& found);

/// A region of interest, whoever attached it; in frame pixels.
struct Region {
  std::string label;
  std::optional<int> label_id;
  std::optional<double> confidence;
  double x = 0, y = 0, width = 0, height = 0;
  std::vector<ObjectClass> classes;  ///< what models said of it, in their order
};

/// `frame` turns the exact, normalised edges into pixels; without it, or where a region has none,
/// the whole pixels of the region count.
std::vector<Region> read_regions(GstBuffer* buffer, std::optional<FrameSize> frame);

}  // namespace gstnpu
