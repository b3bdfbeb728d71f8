#include "answer_structures.hpp"

#include <string>
#include <vector>

#include "structure_values.hpp"

namespace gstnpu {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::Object;

namespace {

template <typename Value>
void set_map(GstStructure* structure, const std::string& field,
             const npu::vision::Map<Value>& map) {
  if (map.empty()) return;
  gst_structure_set(structure, (field + "-width").c_str(), G_TYPE_UINT, map.width,
                    (field + "-height").c_str(), G_TYPE_UINT, map.height, nullptr);
  set_bytes<Value>(structure, field.c_str(), map.values);
}

void set_maps(GstStructure* results, const Answer& answer, const MapPlace& place) {
  if (!has_map(answer)) return;
  set_map(results, "class-map", answer.class_map);
  set_map(results, "value-map", answer.value_map);
  gst_structure_set(results, "x_min", G_TYPE_DOUBLE, place.left, "x_max", G_TYPE_DOUBLE,
                    place.right, "y_min", G_TYPE_DOUBLE, place.top, "y_max", G_TYPE_DOUBLE,
                    place.bottom, nullptr);
}

void set_classes(GstStructure* results, std::span<const ReadClass> classes) {
  if (classes.empty()) return;
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, static_cast<guint>(classes.size()));
  for (const ReadClass& one : classes) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&value, classification_structure(one));
    gst_value_list_append_and_take_value(&list, &value);
  }
  gst_structure_take_value(results, "classifications", &list);
}

/// NULL where there is nothing.
GstStructure* unless_empty(GstStructure* structure) {
  if (gst_structure_n_fields(structure) > 0) return structure;
  gst_structure_free(structure);
  return nullptr;
}

}  // namespace

GstStructure* detection_structure(const Object& object, const std::string& label, FrameSize frame) {
  GstStructure* structure = gst_structure_new(
      "detection", "x_min", G_TYPE_DOUBLE, object.left / frame.width, "x_max", G_TYPE_DOUBLE,
      object.right / frame.width, "y_min", G_TYPE_DOUBLE, object.top / frame.height, "y_max",
      G_TYPE_DOUBLE, object.bottom / frame.height, "confidence", G_TYPE_DOUBLE,
      static_cast<gdouble>(object.confidence), "label_id", G_TYPE_INT,
      static_cast<gint>(object.label_id), "label", G_TYPE_STRING, label.c_str(), nullptr);
  if (const auto& box = object.oriented) {
    gst_structure_set(structure, "x_center", G_TYPE_DOUBLE, box->center_x / frame.width, "y_center",
                      G_TYPE_DOUBLE, box->center_y / frame.height, "oriented_width", G_TYPE_DOUBLE,
                      box->width / frame.width, "oriented_height", G_TYPE_DOUBLE,
                      box->height / frame.height, "angle", G_TYPE_DOUBLE, box->angle, nullptr);
  }
  return structure;
}

GstStructure* classification_structure(const ReadClass& found) {
  GstStructure* structure =
      gst_structure_new("classification", "label", G_TYPE_STRING, found.label.c_str(), "label_id",
                        G_TYPE_INT, found.label_id.value_or(-1), "confidence", G_TYPE_DOUBLE,
                        found.confidence.value_or(0), nullptr);
  if (!found.model.empty()) {
    gst_structure_set(structure, "model_name", G_TYPE_STRING, found.model.c_str(), nullptr);
  }
  return structure;
}

GstStructure* key_points_structure(std::span<const npu::vision::KeyPoint> points,
                                   const npu::vision::Skeleton& skeleton, FrameSize frame) {
  std::vector<double> values;
  for (const npu::vision::KeyPoint& point : points) {
    values.insert(values.end(), {point.x / frame.width, point.y / frame.height, point.confidence});
  }
  GstStructure* structure = gst_structure_new("keypoints", "count", G_TYPE_UINT,
                                              static_cast<guint>(points.size()), nullptr);
  set_bytes<double>(structure, "points", values);
  std::vector<guint32> ends;
  for (const auto& [first, second] : skeleton) ends.insert(ends.end(), {first, second});
  set_bytes<guint32>(structure, "skeleton", ends);
  return structure;
}

GstStructure* mask_structure(const npu::vision::Mask& mask, const Answer& answer, FrameSize frame) {
  GstStructure* structure = gst_structure_new(
      "mask", "x_min", G_TYPE_DOUBLE, mask.x / static_cast<double>(frame.width), "x_max",
      G_TYPE_DOUBLE, (mask.x + mask.width) / static_cast<double>(frame.width), "y_min",
      G_TYPE_DOUBLE, mask.y / static_cast<double>(frame.height), "y_max", G_TYPE_DOUBLE,
      (mask.y + mask.height) / static_cast<double>(frame.height), "width", G_TYPE_UINT,
      mask.columns, "height", G_TYPE_UINT, mask.rows, nullptr);
  const std::size_t count = std::size_t{mask.columns} * mask.rows;
  set_bytes<std::uint8_t>(structure, "values",
                          std::span(answer.mask_pixels).subspan(mask.first, count));
  return structure;
}

GstStructure* embedding_structure(std::span<const float> values) {
  GstStructure* structure = gst_structure_new_empty("embedding");
  set_bytes<float>(structure, "values", values);
  return structure;
}

GstStructure* results_structure(const Answer& answer, std::span<const ReadClass> classes,
                                const MapPlace& place) {
  GstStructure* results = gst_structure_new_empty("results");
  set_classes(results, classes);
  if (answer.anomaly) {
    gst_structure_set(results, "anomaly", G_TYPE_DOUBLE, static_cast<gdouble>(*answer.anomaly),
                      nullptr);
  }
  if (!answer.embedding.empty()) {
    set_bytes<float>(results, "embedding", answer.embedding);
  }
  set_maps(results, answer, place);
  return unless_empty(results);
}

GstStructure* maps_structure(const Answer& answer, const MapPlace& place) {
  GstStructure* results = gst_structure_new_empty("results");
  set_maps(results, answer, place);
  return unless_empty(results);
}

}  // namespace gstnpu
