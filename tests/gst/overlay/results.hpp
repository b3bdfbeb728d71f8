// Results on frames, as nputensordec attaches them.
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "answers/frame_answer.hpp"

namespace gstnpu::test {

/// Edges of a box, 0 to 1 of the frame.
struct Edges {
  double left, top, right, bottom;
};

inline void set_edges(GstStructure* structure, const Edges& edges) {
  gst_structure_set(structure, "x_min", G_TYPE_DOUBLE, edges.left, "x_max", G_TYPE_DOUBLE,
                    edges.right, "y_min", G_TYPE_DOUBLE, edges.top, "y_max", G_TYPE_DOUBLE,
                    edges.bottom, nullptr);
}

template <typename Value>
void set_bytes(GstStructure* structure, const std::string& field,
               const std::vector<Value>& values) {
  GBytes* bytes = g_bytes_new(values.data(), values.size() * sizeof(Value));
  gst_structure_set(structure, field.c_str(), G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

/// An object; others say more of it.
inline GstVideoRegionOfInterestMeta* add_object(GstBuffer* buffer, const std::string& label,
                                                const Edges& edges, double confidence = 0.9) {
  GstVideoRegionOfInterestMeta* object =
      gst_buffer_add_video_region_of_interest_meta(buffer, label.c_str(), 0, 0, 1, 1);
  GstStructure* detection =
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr);
  set_edges(detection, edges);
  gst_video_region_of_interest_meta_add_param(object, detection);
  return object;
}

/// Centre and size, 0 to 1 of the frame, and radians.
struct Turned {
  double x, y, width, height, angle;
};

inline void turn(GstVideoRegionOfInterestMeta* object, const Turned& box) {
  gst_structure_set(gst_video_region_of_interest_meta_get_param(object, "detection"), "x_center",
                    G_TYPE_DOUBLE, box.x, "y_center", G_TYPE_DOUBLE, box.y, "oriented_width",
                    G_TYPE_DOUBLE, box.width, "oriented_height", G_TYPE_DOUBLE, box.height, "angle",
                    G_TYPE_DOUBLE, box.angle, nullptr);
}

inline void set_identity(GstVideoRegionOfInterestMeta* object, int id) {
  gst_video_region_of_interest_meta_add_param(
      object, gst_structure_new("object_id", "id", G_TYPE_INT, id, nullptr));
}

/// `points`: x, y and confidence of each; `skeleton`: pairs of those that are joined.
inline void add_key_points(GstVideoRegionOfInterestMeta* object, const std::vector<double>& points,
                           const std::vector<guint32>& skeleton) {
  GstStructure* key_points = gst_structure_new_empty("keypoints");
  set_bytes(key_points, "points", points);
  set_bytes(key_points, "skeleton", skeleton);
  gst_video_region_of_interest_meta_add_param(object, key_points);
}

/// `values`: row after row, 255 where the object is.
inline void add_mask(GstVideoRegionOfInterestMeta* object, const Edges& edges, guint columns,
                     guint rows, const std::vector<guint8>& values) {
  GstStructure* mask = gst_structure_new("mask", "width", G_TYPE_UINT, columns, "height",
                                         G_TYPE_UINT, rows, nullptr);
  set_edges(mask, edges);
  set_bytes(mask, "values", values);
  gst_video_region_of_interest_meta_add_param(object, mask);
}

/// Puts a map on a frame beside what is there, whose size is that of the answer.
inline void add_map(GstBuffer* buffer, npu::vision::FrameSize frame, FoundMap map,
                    std::vector<std::string> labels = {}) {
  const auto before = answer_on(buffer);
  FrameAnswer answer = before ? *before : FrameAnswer{.frame = frame};
  map.labels = std::make_shared<const std::vector<std::string>>(std::move(labels));
  answer.maps.push_back(std::move(map));
  put_answer(buffer, std::make_shared<FrameAnswer>(std::move(answer)));
}

}  // namespace gstnpu::test
