#include "relation_writer.hpp"

#include <cmath>

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {

using npu::vision::Object;

#ifdef GST_NPU_HAVE_ANALYTICS
namespace {

using Relations = GstAnalyticsRelationMeta;

Relations* relations_of(GstBuffer* buffer) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  return relations ? relations : gst_buffer_add_analytics_relation_meta(buffer);
}

std::optional<GstAnalyticsODMtd> object_of(Relations* relations, gint id) {
  GstAnalyticsODMtd object;
  if (id < 0 ||
      !gst_analytics_relation_meta_get_od_mtd(relations, static_cast<guint>(id), &object)) {
    return std::nullopt;
  }
  return object;
}

void relate(Relations* relations, guint whole, guint part) {
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_CONTAIN, whole, part);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, part,
                                           whole);
}

/// Whether the region is where the object is.
bool is_at(const GstVideoRegionOfInterestMeta& roi, GstAnalyticsODMtd& object) {
  gint x = 0, y = 0, w = 0, h = 0;
  gfloat confidence = 0;
  gst_analytics_od_mtd_get_location(&object, &x, &y, &w, &h, &confidence);
  const gint64 column = gint64{x} + w / 2 - static_cast<gint>(roi.x);
  const gint64 row = gint64{y} + h / 2 - static_cast<gint>(roi.y);
  return column >= 0 && column <= roi.w && row >= 0 && row <= roi.h;
}

}  // namespace

gint write_object(GstBuffer* buffer, const Object& object, const GstVideoRegionOfInterestMeta& roi,
                  gint /*id*/) {
  Relations* relations = relations_of(buffer);
  GstAnalyticsODMtd added;
#if GST_CHECK_VERSION(1, 25, 0)
  if (const auto& turned = object.oriented) {
    const auto whole = [](double value) { return static_cast<gint>(std::lround(value)); };
    gst_analytics_relation_meta_add_oriented_od_mtd(
        relations, roi.roi_type, whole(turned->center_x - turned->width / 2),
        whole(turned->center_y - turned->height / 2), whole(turned->width), whole(turned->height),
        static_cast<gfloat>(turned->angle), object.confidence, &added);
    return static_cast<gint>(added.id);
  }
#endif
  gst_analytics_relation_meta_add_od_mtd(relations, roi.roi_type, static_cast<gint>(roi.x),
                                         static_cast<gint>(roi.y), static_cast<gint>(roi.w),
                                         static_cast<gint>(roi.h), object.confidence, &added);
  return static_cast<gint>(added.id);
}

bool is_of_another(GstBuffer* buffer, const GstVideoRegionOfInterestMeta& roi) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  auto object = relations ? object_of(relations, roi.id) : std::nullopt;
  return object && !is_at(roi, *object);
}

void write_class(GstBuffer* buffer, std::optional<gint> object_id, const ReadClass& found) {
  Relations* relations = relations_of(buffer);
  const auto object = object_id ? object_of(relations, *object_id) : std::nullopt;
  if (object_id && !object) return;
  GstAnalyticsClsMtd classes;
  if (!gst_analytics_relation_meta_add_one_cls_mtd(
          relations, static_cast<gfloat>(found.confidence.value_or(0)),
          g_quark_from_string(found.label.c_str()), &classes)) {
    return;
  }
  if (object) {
    relate(relations, object->id, classes.id);
  }
}

#else

gint write_object(GstBuffer*, const Object&, const GstVideoRegionOfInterestMeta&, gint id) {
  return id;
}

bool is_of_another(GstBuffer*, const GstVideoRegionOfInterestMeta&) {
  return false;
}

void write_class(GstBuffer*, std::optional<gint>, const ReadClass&) {}

#endif

}  // namespace gstnpu
