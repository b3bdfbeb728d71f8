#include "detection_meta.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>

#include <npuvision/labels.hpp>

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {

using npu::vision::label_of;
namespace {

struct PixelBox {
  guint x, y, width, height;
};

// Edges to the nearest pixel; at least one pixel, and inside the frame.
PixelBox to_pixels(const Detection& detection, FrameSize frame) {
  const auto first = [](double edge, guint limit) {
    return std::min(static_cast<guint>(std::lround(edge)), limit - 1);
  };
  const auto length = [](guint from, double edge) {
    return std::max(static_cast<guint>(std::lround(edge)), from + 1) - from;
  };
  const guint x = first(detection.left, frame.width);
  const guint y = first(detection.top, frame.height);
  return {x, y, length(x, detection.right), length(y, detection.bottom)};
}

GstStructure* make_structure(const Detection& detection, const std::string& label,
                             FrameSize frame) {
  return gst_structure_new(
      "detection", "x_min", G_TYPE_DOUBLE, detection.left / frame.width, "x_max", G_TYPE_DOUBLE,
      detection.right / frame.width, "y_min", G_TYPE_DOUBLE, detection.top / frame.height, "y_max",
      G_TYPE_DOUBLE, detection.bottom / frame.height, "confidence", G_TYPE_DOUBLE,
      static_cast<gdouble>(detection.confidence), "label_id", G_TYPE_INT,
      static_cast<gint>(detection.label_id), "label", G_TYPE_STRING, label.c_str(), nullptr);
}

#ifdef GST_NPU_HAVE_ANALYTICS
// The id of the object in the buffer's relation meta.
gint add_to_analytics(GstBuffer* buffer, const PixelBox& box, const char* label, float confidence) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  if (relations == nullptr) {
    relations = gst_buffer_add_analytics_relation_meta(buffer);
  }
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(
      relations, g_quark_from_string(label), static_cast<gint>(box.x), static_cast<gint>(box.y),
      static_cast<gint>(box.width), static_cast<gint>(box.height), confidence, &object);
  return static_cast<gint>(object.id);
}
#endif

#ifdef GST_NPU_HAVE_ANALYTICS
void classify_in_analytics(GstBuffer* buffer, gint object_id, const ObjectClass& found) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsODMtd object;
  GstAnalyticsClsMtd classes;
  if (relations == nullptr || object_id < 0 ||
      !gst_analytics_relation_meta_get_od_mtd(relations, static_cast<guint>(object_id), &object) ||
      !gst_analytics_relation_meta_add_one_cls_mtd(
          relations, static_cast<gfloat>(found.confidence.value_or(0)),
          g_quark_from_string(found.label.c_str()), &classes)) {
    return;
  }
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_CONTAIN, object.id,
                                           classes.id);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, classes.id,
                                           object.id);
}
#endif

// Regions of other elements keep their ids.
gint next_region_id(GstBuffer* buffer) {
  gint next = 0;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    next = std::max(next, reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->id + 1);
  }
  return next;
}

std::optional<double> number(const GstStructure* structure, const char* field) {
  double value = 0;
  if (!gst_structure_get_double(structure, field, &value)) return std::nullopt;
  return value;
}

void read_structure(const GstStructure* structure, std::optional<FrameSize> frame, Region* region) {
  if (const gchar* label = gst_structure_get_string(structure, "label")) {
    region->label = label;
  }
  gint label_id = 0;
  if (gst_structure_get_int(structure, "label_id", &label_id)) {
    region->label_id = label_id;
  }
  region->confidence = number(structure, "confidence");
  const auto left = number(structure, "x_min"), right = number(structure, "x_max");
  const auto top = number(structure, "y_min"), bottom = number(structure, "y_max");
  if (!frame || !left || !right || !top || !bottom) return;
  region->x = *left * frame->width;
  region->y = *top * frame->height;
  region->width = (*right - *left) * frame->width;
  region->height = (*bottom - *top) * frame->height;
}

ObjectClass read_class(const GstStructure* structure) {
  ObjectClass found;
  if (const gchar* label = gst_structure_get_string(structure, "label")) {
    found.label = label;
  }
  gint label_id = 0;
  if (gst_structure_get_int(structure, "label_id", &label_id)) {
    found.label_id = label_id;
  }
  found.confidence = number(structure, "confidence");
  return found;
}

}  // namespace

void attach_classification(GstBuffer* buffer, gint object_id, const ObjectClass& found) {
  GstVideoRegionOfInterestMeta* roi =
      gst_buffer_get_video_region_of_interest_meta_id(buffer, object_id);
  if (roi != nullptr) {
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("classification", "label", G_TYPE_STRING, found.label.c_str(),
                               "label_id", G_TYPE_INT, found.label_id.value_or(-1), "confidence",
                               G_TYPE_DOUBLE, found.confidence.value_or(0), nullptr));
  }
#ifdef GST_NPU_HAVE_ANALYTICS
  classify_in_analytics(buffer, object_id, found);
#endif
}

void attach_detections(GstBuffer* buffer, std::span<const Detection> detections,
                       const std::vector<std::string>& labels, FrameSize frame) {
  [[maybe_unused]] gint id = next_region_id(buffer);
  for (const Detection& detection : detections) {
    const PixelBox box = to_pixels(detection, frame);
    const std::string label = label_of(labels, detection.label_id);
    GstVideoRegionOfInterestMeta* meta = gst_buffer_add_video_region_of_interest_meta(
        buffer, label.c_str(), box.x, box.y, box.width, box.height);
#ifdef GST_NPU_HAVE_ANALYTICS
    meta->id = add_to_analytics(buffer, box, label.c_str(), detection.confidence);
#else
    meta->id = id++;
#endif
    gst_video_region_of_interest_meta_add_param(meta, make_structure(detection, label, frame));
  }
}

std::vector<Region> read_regions(GstBuffer* buffer, std::optional<FrameSize> frame) {
  std::vector<Region> regions;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(base);
    const gchar* type = g_quark_to_string(meta->roi_type);
    Region region{.label = type != nullptr ? type : "",
                  .x = static_cast<double>(meta->x),
                  .y = static_cast<double>(meta->y),
                  .width = static_cast<double>(meta->w),
                  .height = static_cast<double>(meta->h)};
    if (const GstStructure* structure =
            gst_video_region_of_interest_meta_get_param(meta, "detection")) {
      read_structure(structure, frame, &region);
    }
    for (const GList* param = meta->params; param != nullptr; param = param->next) {
      const auto* structure = static_cast<const GstStructure*>(param->data);
      if (gst_structure_has_name(structure, "classification")) {
        region.classes.push_back(read_class(structure));
      }
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace gstnpu
