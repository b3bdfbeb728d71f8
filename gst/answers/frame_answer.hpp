// FrameAnswer: what was found in a frame, on its buffer.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npuvision/answer.hpp>
#include <npuvision/counter.hpp>
#include <npuvision/skeleton.hpp>

#include "meta/frame_move.hpp"
#include "meta/npumeta.h"

namespace gstnpu {

/// A model's word on an object or a frame: a class, or a text, which has no number.
struct FoundClass {
  std::string label = {};
  std::optional<int> label_id = {};
  std::optional<double> confidence = {};
  std::string model = {};      ///< that said it; empty: nobody tells
  std::string attribute = {};  ///< what the class is of, as "color"; empty: nobody tells
  bool operator==(const FoundClass&) const = default;
};

/// A mask for the pixels of a box that starts at `x`, `y` of the frame.
struct FoundMask {
  double x = 0, y = 0, width = 0, height = 0;  ///< frame pixels
  guint columns = 0, rows = 0;
  std::vector<guint8> values = {};  ///< 255: belongs to the object, else 0; row after row

  FrameArea area() const { return {x, y, x + width, y + height}; }
};

struct Identity {
  guint64 id = 0;                                    ///< the same in all frames
  GstClockTime first_seen_ns = 0, last_seen_ns = 0;  ///< of the stream
};

/// The parts of an object that others' metas have already.
struct Carried {
  bool is_there = false;  ///< the object itself
  guint params = 0;       ///< structures of its region
  std::size_t classes = 0;
  bool identity = false;
  bool values = false;  ///< anomaly and embedding
};

/// An object, whoever found it; in frame pixels.
struct FoundObject {
  std::string label = {};
  std::optional<int> label_id = {};
  std::optional<double> confidence = {};
  double x = 0, y = 0, width = 0, height = 0;
  std::optional<Identity> identity = {};
  std::vector<FoundClass> classes = {};  ///< what models said of it, in their order
  std::vector<npu::vision::KeyPoint> key_points = {};
  std::optional<npu::vision::Skeleton> skeleton = {};  ///< none: nobody says whether there is one
  std::optional<FoundMask> mask = {};
  std::optional<npu::vision::OrientedBox> oriented = {};
  std::optional<double> anomaly = {};  ///< 0..1: how unlike what is normal
  std::vector<float> embedding = {};
  std::optional<gint> region_id = {};      ///< of its GstVideoRegionOfInterestMeta
  std::optional<guint> analytics_id = {};  ///< of its GstAnalyticsODMtd
  Carried carried = {};

  FrameArea area() const { return {x, y, x + width, y + height}; }
  /// The metas of inferences name it by this; -1: it is in no other meta yet.
  gint id() const { return region_id.value_or(static_cast<gint>(analytics_id.value_or(-1U))); }
};

using LabelsRef = std::shared_ptr<const std::vector<std::string>>;

/// Maps for the part of the frame that a model saw: all of it, its middle, or an object.
struct FoundMap {
  FrameArea area = {};                     ///< that it covers, frame pixels
  std::optional<gint> object_id = {};      ///< FoundObject::id(); none: of the frame
  npu::vision::Map<guint16> classes = {};  ///< label ids
  npu::vision::Map<float> values = {};     ///< depth, or 0..1 of an anomaly
  bool is_anomaly = false;                 ///< the values
  LabelsRef labels = {};                   ///< of the classes; null: not known
  bool is_carried = false;                 ///< by others' metas

  GST_NPU_META_API const std::vector<std::string>& names() const;
};

/// npucount's counts. Corners and ends are shares of this frame, and may lie outside of it.
struct FrameCounts {
  std::vector<npu::vision::ZoneCount> zones;
  std::vector<npu::vision::LineCount> lines;
  std::vector<npu::vision::CountEvent> events;

  bool empty() const { return zones.empty() && lines.empty(); }
};

/// A GstVideoRegionOfInterestMeta at the last look, and the frame's crop then: a GstVideoCropMeta
/// moves no regions.
struct SeenRegion {
  gint id = 0;
  GQuark type = 0;
  guint crop_x = 0, crop_y = 0;
};

/// All that was found in a frame.
struct FrameAnswer {
  npu::vision::FrameSize frame = {};  ///< pixels of places; 0: not known
  guint crop_x = 0, crop_y = 0;       ///< start of the frame's GstVideoCropMeta
  std::vector<FoundObject> objects = {};
  std::vector<FoundClass> classes = {};  ///< of the whole frame
  std::optional<double> anomaly = {};
  std::vector<float> embedding = {};
  std::vector<FoundMap> maps = {};  ///< those of the frame first
  FrameCounts counts = {};

  // Contents of others' metas at the last look:
  std::size_t classes_carried = 0;
  std::vector<SeenRegion> regions_seen = {};
  std::size_t relations_seen = 0;  ///< length of the GstAnalyticsRelationMeta

  GST_NPU_META_API FoundObject* find(gint object_id);
};

/// The answer for a frame of size `to` that was made from this one's. Objects outside are dropped,
/// and key points there get confidence 0; masks and maps are cut. What is said of the whole frame
/// stays.
GST_NPU_META_API FrameAnswer moved(const FrameAnswer& answer, const FrameMove& move,
                                   npu::vision::FrameSize to);
/// Cuts the map to a part of what it covers; nothing is left of it outside.
GST_NPU_META_API void cut(FoundMap* map, const FrameArea& area);

/// The buffer's answer; null where it has none.
GST_NPU_META_API std::shared_ptr<const FrameAnswer> answer_on(GstBuffer* buffer);
/// Puts it on a writable buffer, in place of the one that is there.
GST_NPU_META_API void put_answer(GstBuffer* buffer, std::shared_ptr<const FrameAnswer> answer);

}  // namespace gstnpu
