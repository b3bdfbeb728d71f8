#include "relation_writer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <npuvision/labels.hpp>

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::Map;
using npu::vision::Mask;
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

#if GST_CHECK_VERSION(1, 25, 0)
/// Each value, changed to a pixel.
template <typename Pixel, typename Value, typename Change>
GstBuffer* image_of(std::span<const Value> values, guint columns, const Change& change) {
  constexpr bool kIsWide = sizeof(Pixel) > 1;
  auto* pixels = static_cast<Pixel*>(g_malloc(values.size() * sizeof(Pixel)));
  std::transform(values.begin(), values.end(), pixels, change);
  GstBuffer* image = gst_buffer_new_wrapped(pixels, values.size() * sizeof(Pixel));
  const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  const gint strides[GST_VIDEO_MAX_PLANES] = {static_cast<gint>(columns * sizeof(Pixel))};
  gst_buffer_add_video_meta_full(image, GST_VIDEO_FRAME_FLAG_NONE,
                                 kIsWide ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8,
                                 columns, static_cast<guint>(values.size() / columns), 1, offsets,
                                 strides);
  return image;
}

GstBuffer* image_of(const Map<guint16>& map, guint highest) {
  const std::span values(map.values);
  if (highest > G_MAXUINT8) {
    return image_of<guint16>(values, map.width, [](guint16 id) { return GUINT16_TO_LE(id); });
  }
  return image_of<guint8>(values, map.width, [](guint16 id) { return static_cast<guint8>(id); });
}

/// In pixels of the frame, at least one.
GstVideoRectangle pixels_of(const MapPlace& place, FrameSize frame) {
  const auto edge = [](double share, guint size) {
    return static_cast<gint>(std::lround(share * size));
  };
  const gint left = edge(place.left, frame.width), top = edge(place.top, frame.height);
  return {left, top, std::max(edge(place.right, frame.width) - left, 1),
          std::max(edge(place.bottom, frame.height) - top, 1)};
}

/// How sure the model is of each class, it says of each pixel alone.
void name_regions(Relations* relations, guint segments, guint count,
                  const std::vector<std::string>& labels) {
  constexpr gfloat kUndefined = -1;  // GStreamer's word for it
  std::vector<gfloat> levels(count, kUndefined);
  std::vector<GQuark> names;
  for (guint id = 0; id < count; ++id) {
    names.push_back(g_quark_from_string(npu::vision::label_of(labels, id).c_str()));
  }
  GstAnalyticsClsMtd classes;
  if (gst_analytics_relation_meta_add_cls_mtd(relations, count, levels.data(), names.data(),
                                              &classes)) {
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_N_TO_N, segments,
                                             classes.id);
  }
}
#endif

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

#if GST_CHECK_VERSION(1, 25, 0)
void write_mask(GstBuffer* buffer, gint object_id, const Answer& answer, std::size_t index) {
  const Mask& mask = answer.masks[index];
  Relations* relations = relations_of(buffer);
  const auto object = object_of(relations, object_id);
  const std::size_t count = std::size_t{mask.columns} * mask.rows;
  if (!object || count == 0) return;
  // Each object has a number, as far as a byte goes: whoever draws them can tell them apart.
  guint id = static_cast<guint>(index % G_MAXUINT8) + 1;
  GstBuffer* image =
      image_of<guint8>(std::span(answer.mask_pixels).subspan(mask.first, count), mask.columns,
                       [id](guint8 pixel) { return static_cast<guint8>(pixel != 0 ? id : 0); });
  GstAnalyticsSegmentationMtd segments;
  gst_analytics_relation_meta_add_segmentation_mtd(
      relations, image, GST_SEGMENTATION_TYPE_INSTANCE, 1, &id, static_cast<gint>(mask.x),
      static_cast<gint>(mask.y), mask.width, mask.height, &segments);
  relate(relations, object->id, segments.id);
}

void write_class_map(GstBuffer* buffer, std::optional<gint> object_id, const Map<guint16>& map,
                     const std::vector<std::string>& labels, const MapPlace& place,
                     FrameSize frame) {
  if (map.empty()) return;
  Relations* relations = relations_of(buffer);
  const guint highest = *std::max_element(map.values.begin(), map.values.end());
  std::vector<guint> ids(highest + 1);
  std::iota(ids.begin(), ids.end(), 0);
  const GstVideoRectangle area = pixels_of(place, frame);
  GstAnalyticsSegmentationMtd segments;
  gst_analytics_relation_meta_add_segmentation_mtd(
      relations, image_of(map, highest), GST_SEGMENTATION_TYPE_SEMANTIC, ids.size(), ids.data(),
      area.x, area.y, static_cast<guint>(area.w), static_cast<guint>(area.h), &segments);
  name_regions(relations, segments.id, highest + 1, labels);
  if (const auto object = object_id ? object_of(relations, *object_id) : std::nullopt) {
    relate(relations, object->id, segments.id);
  }
}
#endif

#else

gint write_object(GstBuffer*, const Object&, const GstVideoRegionOfInterestMeta&, gint id) {
  return id;
}

bool is_of_another(GstBuffer*, const GstVideoRegionOfInterestMeta&) {
  return false;
}

void write_class(GstBuffer*, std::optional<gint>, const ReadClass&) {}

#endif

#if !defined(GST_NPU_HAVE_ANALYTICS) || !GST_CHECK_VERSION(1, 25, 0)
void write_mask(GstBuffer*, gint, const Answer&, std::size_t) {}

void write_class_map(GstBuffer*, std::optional<gint>, const Map<guint16>&,
                     const std::vector<std::string>&, const MapPlace&, FrameSize) {}
#endif

}  // namespace gstnpu
