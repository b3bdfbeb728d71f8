#include "relation_reader.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/video_frame.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {

#ifdef GST_NPU_HAVE_ANALYTICS
namespace {

using Relations = GstAnalyticsRelationMeta;

std::string text_of(GQuark quark) {
  const gchar* text = g_quark_to_string(quark);
  return text ? text : "";
}

/// Box of an object as it was turned, clockwise by the angle.
struct Place {
  ReadOriented box;
  float confidence = 0;
};

Place place_of(const GstAnalyticsODMtd& object) {
  gint x = 0, y = 0, w = 0, h = 0;
  gfloat angle = 0, confidence = 0;
#if GST_CHECK_VERSION(1, 25, 0)
  gst_analytics_od_mtd_get_oriented_location(&object, &x, &y, &w, &h, &angle, &confidence);
#else
  auto same = object;
  gst_analytics_od_mtd_get_location(&same, &x, &y, &w, &h, &confidence);
#endif
  return {{x + w / 2.0, y + h / 2.0, static_cast<double>(w), static_cast<double>(h), angle},
          confidence};
}

Region region_of(const GstAnalyticsODMtd& object, const Place& place) {
  Region region;
  auto same = object;
  region.label = text_of(gst_analytics_od_mtd_get_obj_type(&same));
  region.confidence = place.confidence;
  const double cosine = std::abs(std::cos(place.box.angle)),
               sine = std::abs(std::sin(place.box.angle));
  region.width = place.box.width * cosine + place.box.height * sine;
  region.height = place.box.width * sine + place.box.height * cosine;
  region.x = place.box.x - region.width / 2;
  region.y = place.box.y - region.height / 2;
  if (place.box.angle != 0) {
    region.oriented = place.box;
  }
  return region;
}

/// Regions of elements that know no ids may have this one by chance.
bool is_twin(GstVideoRegionOfInterestMeta* roi, const GstAnalyticsODMtd& object,
             const Place& place) {
  const double x = place.box.x - static_cast<gint>(roi->x);
  const double y = place.box.y - static_cast<gint>(roi->y);
  return roi->id == static_cast<gint>(object.id) && x >= 0 && x <= roi->w && y >= 0 && y <= roi->h;
}

ReadClass best_of(GstAnalyticsClsMtd* classes) {
  ReadClass best;
  const gsize count = gst_analytics_cls_mtd_get_length(classes);
  for (gsize i = 0; i < count; ++i) {
    const double confidence = gst_analytics_cls_mtd_get_level(classes, i);
    if (best.confidence && confidence <= *best.confidence) continue;
    best.label = text_of(gst_analytics_cls_mtd_get_quark(classes, i));
    best.label_id = count > 1 ? std::optional(static_cast<int>(i)) : std::nullopt;
    best.confidence = confidence;
  }
  return best;
}

bool contains(Relations* relations, guint whole, guint part) {
  return (gst_analytics_relation_meta_get_relation(relations, whole, part) &
          GST_ANALYTICS_REL_TYPE_CONTAIN) != 0;
}

/// A classification that an object only relates to lists all classes that it may be of: DL Streamer
/// writes that.
void add_classes(Relations* relations, const GstAnalyticsODMtd& object, bool has_classes,
                 Region* region) {
  gpointer state = nullptr;
  GstAnalyticsClsMtd classes;
  while (gst_analytics_relation_meta_get_direct_related(
      relations, object.id, GST_ANALYTICS_REL_TYPE_ANY, gst_analytics_cls_mtd_get_mtd_type(),
      &state, &classes)) {
    if (contains(relations, object.id, classes.id)) {
      if (!has_classes) {
        region->classes.push_back(best_of(&classes));
      }
      continue;
    }
    // A label that nobody has interned is no class of GstAnalytics.
    const GQuark label = g_quark_try_string(region->label.c_str());
    const gint id = label != 0 ? gst_analytics_cls_mtd_get_index_by_quark(&classes, label) : -1;
    if (!region->label_id && id >= 0) {
      region->label_id = id;
    }
  }
}

void add_track(Relations* relations, const GstAnalyticsODMtd& object, Region* region) {
  gpointer state = nullptr;
  GstAnalyticsTrackingMtd tracking;
  guint64 id = 0;
  GstClockTime first = 0, last = 0;
  gboolean lost = FALSE;
  if (!region->tracking_id &&
      gst_analytics_relation_meta_get_direct_related(
          relations, object.id, GST_ANALYTICS_REL_TYPE_ANY,
          gst_analytics_tracking_mtd_get_mtd_type(), &state, &tracking) &&
      gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost)) {
    region->tracking_id = id;
  }
}

#if GST_CHECK_VERSION(1, 25, 0)
/// Copies the mask of a single region, whose pixels are not 0.
void copy_mask(const GstVideoFrame& frame, ReadMask* mask) {
  mask->columns = static_cast<guint>(GST_VIDEO_FRAME_WIDTH(&frame));
  mask->rows = static_cast<guint>(GST_VIDEO_FRAME_HEIGHT(&frame));
  mask->values.reserve(std::size_t{mask->columns} * mask->rows);
  const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  for (guint row = 0; row < mask->rows; ++row) {
    for (guint column = 0; column < mask->columns; ++column) {
      mask->values.push_back(data[std::size_t{row} * stride + column] != 0 ? 255 : 0);
    }
  }
}

/// Leaves `mask` empty where the pixels cannot be read.
void read_mask(GstBuffer* pixels, ReadMask* mask) {
  const GstVideoMeta* video = gst_buffer_get_video_meta(pixels);
  GstVideoFrame frame;
  GstVideoInfo info;
  if (!video || video->format != GST_VIDEO_FORMAT_GRAY8 ||
      !gst_video_info_set_format(&info, video->format, video->width, video->height) ||
      !gst_video_frame_map(&frame, &info, pixels, GST_MAP_READ)) {
    return;
  }
  if (holds_all_rows(frame)) {
    copy_mask(frame, mask);
  }
  gst_video_frame_unmap(&frame);
}

/// Classes have a classification with their names: that is a map, not the mask of an object.
bool is_mask(Relations* relations, const GstAnalyticsSegmentationMtd& segments) {
  gpointer state = nullptr;
  GstAnalyticsClsMtd names;
  return gst_analytics_segmentation_mtd_get_region_count(&segments) == 1 &&
         !gst_analytics_relation_meta_get_direct_related(
             relations, segments.id, GST_ANALYTICS_REL_TYPE_N_TO_N,
             gst_analytics_cls_mtd_get_mtd_type(), &state, &names);
}

/// None where its pixels cannot be read.
std::optional<ReadMask> mask_of(const GstAnalyticsSegmentationMtd& segments) {
  gint x = 0, y = 0;
  guint w = 0, h = 0;
  GstBuffer* pixels = gst_analytics_segmentation_mtd_get_mask(&segments, &x, &y, &w, &h);
  if (!pixels) return std::nullopt;
  ReadMask mask;
  mask.x = x;
  mask.y = y;
  mask.width = w;
  mask.height = h;
  read_mask(pixels, &mask);
  gst_buffer_unref(pixels);
  if (mask.values.empty()) return std::nullopt;
  return mask;
}

void add_mask(Relations* relations, const GstAnalyticsODMtd& object, Region* region) {
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd segments;
  while (!region->mask && gst_analytics_relation_meta_get_direct_related(
                              relations, object.id, GST_ANALYTICS_REL_TYPE_ANY,
                              gst_analytics_segmentation_mtd_get_mtd_type(), &state, &segments)) {
    if (is_mask(relations, segments)) {
      region->mask = mask_of(segments);
    }
  }
}
#else
void add_mask(Relations*, const GstAnalyticsODMtd&, Region*) {}
#endif

/// The ids of the classifications that metas of a type are related to.
void add_classes_of(Relations* relations, GstAnalyticsMtdType type, std::set<guint>* ids) {
  gpointer state = nullptr;
  GstAnalyticsMtd whole;
  GstAnalyticsClsMtd classes;
  while (gst_analytics_relation_meta_iterate(relations, &state, type, &whole)) {
    gpointer related = nullptr;
    while (gst_analytics_relation_meta_get_direct_related(
        relations, whole.id, GST_ANALYTICS_REL_TYPE_ANY, gst_analytics_cls_mtd_get_mtd_type(),
        &related, &classes)) {
      ids->insert(classes.id);
    }
  }
}

}  // namespace

void add_relations(GstBuffer* buffer, std::span<GstVideoRegionOfInterestMeta* const> metas,
                   RegionDetail detail, std::vector<Region>* regions) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (relations && gst_analytics_relation_meta_iterate(
                          relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object)) {
    const Place place = place_of(object);
    const auto twin = std::find_if(metas.begin(), metas.end(),
                                   [&](auto* roi) { return is_twin(roi, object, place); });
    Region* region = nullptr;
    if (twin != metas.end()) {
      region = &(*regions)[static_cast<std::size_t>(twin - metas.begin())];
      region->confidence = region->confidence.value_or(place.confidence);
    } else {
      region = &regions->emplace_back(region_of(object, place));
    }
    region->analytics_id = object.id;
    add_classes(relations, object, !region->classes.empty(), region);
    add_track(relations, object, region);
    if (detail == RegionDetail::kAll) {
      add_mask(relations, object, region);
    }
  }
}

std::vector<ReadClass> frame_classes(GstBuffer* buffer) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  if (!relations) return {};
  std::set<guint> of_others;
  add_classes_of(relations, gst_analytics_od_mtd_get_mtd_type(), &of_others);
#if GST_CHECK_VERSION(1, 25, 0)
  add_classes_of(relations, gst_analytics_segmentation_mtd_get_mtd_type(), &of_others);
#endif
  std::vector<ReadClass> found;
  gpointer state = nullptr;
  GstAnalyticsClsMtd classes;
  while (gst_analytics_relation_meta_iterate(relations, &state,
                                             gst_analytics_cls_mtd_get_mtd_type(), &classes)) {
    if (!of_others.contains(classes.id) && gst_analytics_cls_mtd_get_length(&classes) > 0) {
      found.push_back(best_of(&classes));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const ReadClass& a, const ReadClass& b) {
    return a.confidence > b.confidence;
  });
  return found;
}

#else

void add_relations(GstBuffer*, std::span<GstVideoRegionOfInterestMeta* const>, RegionDetail,
                   std::vector<Region>*) {}

std::vector<ReadClass> frame_classes(GstBuffer*) {
  return {};
}

#endif

}  // namespace gstnpu
