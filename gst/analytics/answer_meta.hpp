#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npuvision/answer.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/skeleton.hpp>

#include "meta/npumeta.h"

namespace gstnpu {

bool has_map(const npu::vision::Answer& answer);

/// The part of a frame that a model's maps cover, 0 to 1: not all of it where the model saw only
/// its middle or an object.
struct MapPlace {
  double left = 0, top = 0, right = 1, bottom = 1;
  bool is_whole() const;
};

/// The inference as it was made, where the size of its frame is known too; else null.
const GstNpuInferenceMeta* known_origin(GstBuffer* buffer, const GstNpuInferenceMeta& meta);

/// Computes the place of maps from the inference's geometry, in the frame that was inferred.
MapPlace place_of_maps(const GstNpuInferenceMeta& meta, npu::vision::FrameSize frame);

/// Puts an answer on a writable buffer. For each object a GstVideoRegionOfInterestMeta with a
/// "detection" structure as DL Streamer writes it, where the model gives them "keypoints" and
/// "mask" too, and, where GstAnalytics is there, an object with the same id. What is said of the
/// whole frame goes into `meta`.
void attach_to_frame(GstBuffer* buffer, GstNpuInferenceMeta* meta,
                     const npu::vision::Answer& answer, const npu::vision::ModelCard& card,
                     npu::vision::FrameSize frame);

/// Adds what was said of the object that `meta` is of: to its region as "classification" structures
/// and others, and, where GstAnalytics is there, its classes as classifications that the object
/// contains. Maps, which cover `place`, go into `meta`; so does what has no region and is no class:
/// text, anomaly, embedding. Objects that were found in it are new ones.
void attach_to_object(GstBuffer* buffer, GstNpuInferenceMeta* meta,
                      const npu::vision::Answer& answer, const npu::vision::ModelCard& card,
                      npu::vision::FrameSize frame, const MapPlace& place = {});

/// Puts one object on a writable buffer, as attach_to_frame() does. `id`: of the region where there
/// is no GstAnalytics.
GstVideoRegionOfInterestMeta* attach_object(GstBuffer* buffer, const npu::vision::Object& object,
                                            const std::string& label, npu::vision::FrameSize frame,
                                            gint id);
/// Regions of other elements keep their ids.
gint next_region_id(GstBuffer* buffer);

/// A model's result for an object or a frame: a class, or a text, which has no number.
struct ReadClass {
  std::string label;
  std::optional<int> label_id;
  std::optional<double> confidence;
  std::string model = {};      ///< that said it; empty: nobody tells
  std::string attribute = {};  ///< what the class is of, as "color"; empty: nobody tells
};

struct ReadKeyPoint {
  double x = 0, y = 0;  ///< frame pixels
  double confidence = 1;
};

/// A mask for the pixels of a box that starts at `x`, `y` of the frame.
struct ReadMask {
  double x = 0, y = 0, width = 0, height = 0;  ///< frame pixels
  guint columns = 0, rows = 0;
  std::vector<guint8> values;  ///< 255: belongs to the object, else 0; row after row
};

struct ReadOriented {
  double x = 0, y = 0, width = 0, height = 0;  ///< centre and size, frame pixels
  double angle = 0;                            ///< radians, clockwise
};

/// A region of interest, or an object of GstAnalytics, whoever attached it; in frame pixels.
struct Region {
  std::string label;
  std::optional<int> label_id;
  std::optional<double> confidence;
  double x = 0, y = 0, width = 0, height = 0;
  std::optional<guint64> tracking_id;  ///< the same in all frames
  std::vector<ReadClass> classes;      ///< what models said of it, in their order
  std::vector<ReadKeyPoint> key_points;
  std::optional<npu::vision::Skeleton> skeleton;  ///< none: nobody says whether there is one
  std::optional<ReadMask> mask;
  std::optional<ReadOriented> oriented;
  std::optional<double> anomaly;  ///< 0..1: how unlike what is normal
  std::vector<float> embedding;
  GstVideoRegionOfInterestMeta* meta = nullptr;  ///< of the buffer; null: it has none
  std::optional<guint> analytics_id;             ///< of its GstAnalyticsODMtd
};

/// The details of a region to read.
enum class RegionDetail {
  kAll,
  kBox,  ///< label, place, confidence and identity; the rest costs copies
};

/// Results of a whole frame.
struct FrameResults {
  std::vector<ReadClass> classes;
  std::optional<double> anomaly;
  std::vector<float> embedding;
};

/// Combines the results of all models that ran on the whole frame; if they gave none, takes other
/// elements' classifications.
FrameResults read_results(GstBuffer* buffer);

/// `frame` turns the exact, normalised edges into pixels; without it, or where a region has none,
/// the whole pixels of the region count.
std::vector<Region> read_regions(GstBuffer* buffer, std::optional<npu::vision::FrameSize> frame,
                                 RegionDetail detail = RegionDetail::kAll);

}  // namespace gstnpu
