#include "analytics.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <string>

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using npu::vision::OrientedBox;
using Relations = GstAnalyticsRelationMeta;

std::string text_of(GQuark quark) {
  const gchar* text = g_quark_to_string(quark);
  return text ? text : "";
}

std::optional<GstAnalyticsODMtd> object_of(Relations* relations, std::optional<guint> id) {
  GstAnalyticsODMtd object;
  if (!id || !gst_analytics_relation_meta_get_od_mtd(relations, *id, &object)) return std::nullopt;
  return object;
}

/// Calls `read` with each of a type that `id` has a relation to, and that came since.
template <typename Mtd, typename Read>
void each_related(Relations* relations, guint id, GstAnalyticsMtdType type, std::size_t seen,
                  const Read& read) {
  gpointer state = nullptr;
  Mtd found;
  while (gst_analytics_relation_meta_get_direct_related(relations, id, GST_ANALYTICS_REL_TYPE_ANY,
                                                        type, &state, &found)) {
    if (found.id >= seen) {
      read(found);
    }
  }
}

// ---- In

/// Box of an object as it was turned, clockwise by the angle.
struct Place {
  OrientedBox box;
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

FoundObject found_object(const GstAnalyticsODMtd& object, const Place& place) {
  auto same = object;
  const OrientedBox& box = place.box;
  const double cosine = std::abs(std::cos(box.angle)), sine = std::abs(std::sin(box.angle));
  const double width = box.width * cosine + box.height * sine;
  const double height = box.width * sine + box.height * cosine;
  FoundObject found{.label = text_of(gst_analytics_od_mtd_get_obj_type(&same)),
                    .label_id = {},
                    .confidence = place.confidence,
                    .x = box.center_x - width / 2,
                    .y = box.center_y - height / 2,
                    .width = width,
                    .height = height};
  if (box.angle != 0) {
    found.oriented = box;
  }
  return found;
}

/// Regions of elements that know no ids may have this one by chance.
bool is_twin(const FoundObject& one, const GstAnalyticsODMtd& object, const Place& place) {
  const double x = place.box.center_x - one.x, y = place.box.center_y - one.y;
  return !one.analytics_id && one.region_id == static_cast<gint>(object.id) && x >= 0 &&
         x <= one.width && y >= 0 && y <= one.height;
}

FoundClass best_of(GstAnalyticsClsMtd* classes) {
  FoundClass best;
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
/// writes that. `has_classes`: the object's region has the same.
void add_classes(Relations* relations, std::size_t seen, bool has_classes, FoundObject* object) {
  const guint id = *object->analytics_id;
  each_related<GstAnalyticsClsMtd>(
      relations, id, gst_analytics_cls_mtd_get_mtd_type(), seen, [&](GstAnalyticsClsMtd& classes) {
        if (contains(relations, id, classes.id)) {
          if (!has_classes) {
            object->classes.push_back(best_of(&classes));
          }
          return;
        }
        // A label that nobody has interned is no class of GstAnalytics.
        const GQuark label = g_quark_try_string(object->label.c_str());
        const gint index =
            label != 0 ? gst_analytics_cls_mtd_get_index_by_quark(&classes, label) : -1;
        if (!object->label_id && index >= 0) {
          object->label_id = index;
        }
      });
}

void add_identity(Relations* relations, std::size_t seen, FoundObject* object) {
  each_related<GstAnalyticsTrackingMtd>(
      relations, *object->analytics_id, gst_analytics_tracking_mtd_get_mtd_type(), seen,
      [&](GstAnalyticsTrackingMtd& tracking) {
        Identity identity;
        gboolean is_lost = FALSE;
        if (!object->identity &&
            gst_analytics_tracking_mtd_get_info(&tracking, &identity.id, &identity.first_seen_ns,
                                                &identity.last_seen_ns, &is_lost)) {
          object->identity = identity;
        }
      });
}

/// Ids of the classifications that metas of a type are related to.
void add_classes_of(Relations* relations, GstAnalyticsMtdType type, std::set<guint>* ids) {
  gpointer state = nullptr;
  GstAnalyticsMtd whole;
  while (gst_analytics_relation_meta_iterate(relations, &state, type, &whole)) {
    each_related<GstAnalyticsClsMtd>(relations, whole.id, gst_analytics_cls_mtd_get_mtd_type(), 0,
                                     [&](auto& classes) { ids->insert(classes.id); });
  }
}

/// The best class of each classification of no object and of no segmentation, best first; only
/// where nobody else said any.
void add_frame_classes(Relations* relations, std::size_t seen, FrameAnswer* answer) {
  if (!answer->classes.empty()) return;
  std::set<guint> of_others;
  add_classes_of(relations, gst_analytics_od_mtd_get_mtd_type(), &of_others);
#if GST_CHECK_VERSION(1, 25, 0)
  add_classes_of(relations, gst_analytics_segmentation_mtd_get_mtd_type(), &of_others);
#endif
  gpointer state = nullptr;
  GstAnalyticsClsMtd classes;
  while (gst_analytics_relation_meta_iterate(relations, &state,
                                             gst_analytics_cls_mtd_get_mtd_type(), &classes)) {
    if (classes.id < seen || of_others.contains(classes.id)) continue;
    if (gst_analytics_cls_mtd_get_length(&classes) > 0) {
      answer->classes.push_back(best_of(&classes));
    }
  }
  std::stable_sort(
      answer->classes.begin(), answer->classes.end(),
      [](const FoundClass& a, const FoundClass& b) { return a.confidence > b.confidence; });
  answer->classes_carried = answer->classes.size();
}

// ---- Out

Relations* relations_of(GstBuffer* buffer) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  return relations ? relations : gst_buffer_add_analytics_relation_meta(buffer);
}

void relate(Relations* relations, guint whole, guint part) {
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_CONTAIN, whole, part);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, part,
                                           whole);
}

/// In whole pixels, at least one.
GstVideoRectangle pixels_of(const FrameArea& area) {
  const auto edge = [](double place) { return static_cast<gint>(std::lround(place)); };
  const gint left = edge(area.left), top = edge(area.top);
  return {left, top, std::max(edge(area.right) - left, 1), std::max(edge(area.bottom) - top, 1)};
}

guint write_object(Relations* relations, const FoundObject& object, FrameSize frame) {
  GstAnalyticsODMtd added;
  const GQuark label = g_quark_from_string(object.label.c_str());
  const auto confidence = static_cast<gfloat>(object.confidence.value_or(0));
#if GST_CHECK_VERSION(1, 25, 0)
  if (const auto& turned = object.oriented) {
    const auto whole = [](double value) { return static_cast<gint>(std::lround(value)); };
    gst_analytics_relation_meta_add_oriented_od_mtd(
        relations, label, whole(turned->center_x - turned->width / 2),
        whole(turned->center_y - turned->height / 2), whole(turned->width), whole(turned->height),
        static_cast<gfloat>(turned->angle), confidence, &added);
    return added.id;
  }
#endif
  GstVideoRectangle box = pixels_of(object.area());
  box.x = std::min(box.x, static_cast<gint>(frame.width) - 1);
  box.y = std::min(box.y, static_cast<gint>(frame.height) - 1);
  gst_analytics_relation_meta_add_od_mtd(relations, label, box.x, box.y, box.w, box.h, confidence,
                                         &added);
  return added.id;
}

void write_class(GstBuffer* buffer, std::optional<guint> object, const FoundClass& found) {
  // A text stays out: GstAnalytics interns names, which stay until the process ends.
  if (!found.label_id) return;
  Relations* relations = relations_of(buffer);
  GstAnalyticsClsMtd classes;
  if (gst_analytics_relation_meta_add_one_cls_mtd(
          relations, static_cast<gfloat>(found.confidence.value_or(0)),
          g_quark_from_string(found.label.c_str()), &classes) &&
      object) {
    relate(relations, *object, classes.id);
  }
}

void write_identity(Relations* relations, guint object, const Identity& identity) {
  GstAnalyticsTrackingMtd tracking;
  if (!gst_analytics_relation_meta_add_tracking_mtd(relations, identity.id, identity.first_seen_ns,
                                                    &tracking)) {
    return;
  }
  gst_analytics_tracking_mtd_update_last_seen(&tracking, identity.last_seen_ns);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object,
                                           tracking.id);
}

// ---- Segmentations

#if GST_CHECK_VERSION(1, 25, 0)
/// Classes have a classification with their names: that is a map, not the mask of an object.
bool is_mask(Relations* relations, const GstAnalyticsSegmentationMtd& segments) {
  gpointer state = nullptr;
  GstAnalyticsClsMtd names;
  return gst_analytics_segmentation_mtd_get_region_count(&segments) == 1 &&
         !gst_analytics_relation_meta_get_direct_related(
             relations, segments.id, GST_ANALYTICS_REL_TYPE_N_TO_N,
             gst_analytics_cls_mtd_get_mtd_type(), &state, &names);
}

/// Copies the mask of a single region, whose pixels are not 0; leaves `mask` empty where they
/// cannot be read.
void read_pixels(GstBuffer* pixels, FoundMask* mask) {
  const GstVideoMeta* video = gst_buffer_get_video_meta(pixels);
  GstMapInfo map;
  if (!video || video->format != GST_VIDEO_FORMAT_GRAY8 || video->height == 0 ||
      video->stride[0] < static_cast<gint>(video->width) ||
      !gst_buffer_map(pixels, &map, GST_MAP_READ)) {
    return;
  }
  const auto stride = static_cast<std::size_t>(video->stride[0]);
  if (video->offset[0] + stride * (video->height - 1) + video->width <= map.size) {
    mask->columns = video->width;
    mask->rows = video->height;
    for (guint row = 0; row < mask->rows; ++row) {
      const guint8* from = map.data + video->offset[0] + row * stride;
      std::transform(from, from + mask->columns, std::back_inserter(mask->values),
                     [](guint8 pixel) { return static_cast<guint8>(pixel != 0 ? 255 : 0); });
    }
  }
  gst_buffer_unmap(pixels, &map);
}

void add_mask(Relations* relations, std::size_t seen, FoundObject* object) {
  each_related<GstAnalyticsSegmentationMtd>(
      relations, *object->analytics_id, gst_analytics_segmentation_mtd_get_mtd_type(), seen,
      [&](const GstAnalyticsSegmentationMtd& segments) {
        gint x = 0, y = 0;
        guint w = 0, h = 0;
        if (object->mask || !is_mask(relations, segments)) return;
        GstBuffer* pixels = gst_analytics_segmentation_mtd_get_mask(&segments, &x, &y, &w, &h);
        if (!pixels) return;
        FoundMask mask{static_cast<double>(x),
                       static_cast<double>(y),
                       static_cast<double>(w),
                       static_cast<double>(h),
                       0,
                       0,
                       {}};
        read_pixels(pixels, &mask);
        gst_buffer_unref(pixels);
        if (!mask.values.empty()) {
          object->mask = std::move(mask);
        }
      });
}

/// An image without padding, since GStreamer's own overlay knows none: each value, changed to a
/// pixel.
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

GstBuffer* image_of(const npu::vision::Map<guint16>& map, guint highest) {
  const std::span values(map.values);
  if (highest > G_MAXUINT8) {
    return image_of<guint16>(values, map.width, [](guint16 id) { return GUINT16_TO_LE(id); });
  }
  return image_of<guint8>(values, map.width, [](guint16 id) { return static_cast<guint8>(id); });
}

/// One region, 0 outside the object. Each object has a number, as far as a byte goes: whoever draws
/// them can tell them apart.
void write_mask(Relations* relations, const FoundObject& object, std::size_t index) {
  const FoundMask& mask = *object.mask;
  if (mask.values.empty()) return;
  guint id = static_cast<guint>(index % G_MAXUINT8) + 1;
  GstBuffer* image = image_of<guint8>(std::span(mask.values), mask.columns, [id](guint8 pixel) {
    return static_cast<guint8>(pixel != 0 ? id : 0);
  });
  const GstVideoRectangle place = pixels_of(mask.area());
  GstAnalyticsSegmentationMtd segments;
  gst_analytics_relation_meta_add_segmentation_mtd(
      relations, image, GST_SEGMENTATION_TYPE_INSTANCE, 1, &id, place.x, place.y,
      static_cast<guint>(place.w), static_cast<guint>(place.h), &segments);
  relate(relations, *object.analytics_id, segments.id);
}

/// How sure the model is of each class, it says of each pixel alone.
void name_regions(Relations* relations, guint segments, guint count,
                  const std::vector<std::string>& labels) {
  constexpr gfloat kUndefined = -1;  // GStreamer's word for it
  std::vector<gfloat> levels(count, kUndefined);
  std::vector<GQuark> names;
  for (guint id = 0; id < count; ++id) {
    const bool is_named = id < labels.size() && !labels[id].empty();
    names.push_back(
        g_quark_from_string((is_named ? labels[id] : "class " + std::to_string(id)).c_str()));
  }
  GstAnalyticsClsMtd classes;
  if (gst_analytics_relation_meta_add_cls_mtd(relations, count, levels.data(), names.data(),
                                              &classes)) {
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_N_TO_N, segments,
                                             classes.id);
  }
}

/// Semantic segmentation: a region for each class up to the highest, its number that of the class,
/// and a classification with their labels in the same order.
void write_map(Relations* relations, std::optional<guint> object, const FoundMap& map) {
  const auto& values = map.classes.values;
  const guint highest = *std::max_element(values.begin(), values.end());
  std::vector<guint> ids(highest + 1);
  std::iota(ids.begin(), ids.end(), 0);
  const GstVideoRectangle area = pixels_of(map.area);
  GstAnalyticsSegmentationMtd segments;
  gst_analytics_relation_meta_add_segmentation_mtd(
      relations, image_of(map.classes, highest), GST_SEGMENTATION_TYPE_SEMANTIC, ids.size(),
      ids.data(), area.x, area.y, static_cast<guint>(area.w), static_cast<guint>(area.h),
      &segments);
  name_regions(relations, segments.id, highest + 1, map.names());
  if (object) {
    relate(relations, *object, segments.id);
  }
}
#else
void add_mask(Relations*, std::size_t, FoundObject*) {}
void write_mask(Relations*, const FoundObject&, std::size_t) {}
void write_map(Relations*, std::optional<guint>, const FoundMap&) {}
#endif

// ---- All of it

/// The answer's object, which may be new; null where the answer has dropped it.
FoundObject* object_in(FrameAnswer* answer, const GstAnalyticsODMtd& object, bool is_old,
                       Search* search) {
  const Place place = place_of(object);
  const auto found = search->find([&](std::size_t index) {
    const FoundObject& one = answer->objects[index];
    return is_old && one.analytics_id ? *one.analytics_id == object.id
                                      : is_twin(one, object, place);
  });
  if (!found && is_old) return nullptr;
  FoundObject& one =
      found ? answer->objects[*found] : answer->objects.emplace_back(found_object(object, place));
  one.confidence = one.confidence.value_or(place.confidence);
  one.analytics_id = object.id;
  return &one;
}

void read_objects(Relations* relations, std::size_t seen, FrameAnswer* answer) {
  Search search(answer->objects.size());
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    const bool is_old = object.id < seen;
    FoundObject* one = object_in(answer, object, is_old, &search);
    if (!one) continue;
    add_classes(relations, seen, !is_old && !one->classes.empty(), one);
    add_identity(relations, seen, one);
    add_mask(relations, seen, one);
    one->carried.is_there = true;
    one->carried.classes = one->classes.size();
    one->carried.identity = one->identity.has_value();
  }
}

/// Writes the parts that the relation meta does not have.
void write_news(GstBuffer* buffer, std::size_t index, FrameSize frame, FoundObject* object) {
  if (!object->carried.is_there) {
    object->analytics_id = write_object(relations_of(buffer), *object, frame);
    if (object->mask) {
      write_mask(relations_of(buffer), *object, index);
    }
  }
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  if (!relations || !object_of(relations, object->analytics_id)) return;
  for (std::size_t i = object->carried.classes; i < object->classes.size(); ++i) {
    write_class(buffer, object->analytics_id, object->classes[i]);
  }
  if (object->identity && !object->carried.identity) {
    write_identity(relations, *object->analytics_id, *object->identity);
  }
}

}  // namespace

void from_analytics(GstBuffer* buffer, Draft* draft) {
  Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  const std::size_t length = relations ? gst_analytics_relation_get_length(relations) : 0;
  std::size_t seen = draft->get().relations_seen;
  if (length == seen) return;
  seen = length < seen ? 0 : seen;
  FrameAnswer& answer = draft->edit();
  answer.relations_seen = length;
  if (!relations) return;
  read_objects(relations, seen, &answer);
  add_frame_classes(relations, seen, &answer);
}

void to_analytics(GstBuffer* buffer, FrameAnswer* answer) {
  for (std::size_t i = 0; i < answer->objects.size(); ++i) {
    write_news(buffer, i, answer->frame, &answer->objects[i]);
  }
  for (; answer->classes_carried < answer->classes.size(); ++answer->classes_carried) {
    write_class(buffer, std::nullopt, answer->classes[answer->classes_carried]);
  }
  for (FoundMap& map : answer->maps) {
    if (std::exchange(map.is_carried, true) || map.classes.empty()) continue;
    const FoundObject* object = map.object_id ? answer->find(*map.object_id) : nullptr;
    write_map(relations_of(buffer), object ? object->analytics_id : std::nullopt, map);
  }
  const Relations* relations = gst_buffer_get_analytics_relation_meta(buffer);
  answer->relations_seen = relations ? gst_analytics_relation_get_length(relations) : 0;
}

}  // namespace gstnpu

#else

namespace gstnpu {

void from_analytics(GstBuffer*, Draft*) {}
void to_analytics(GstBuffer*, FrameAnswer*) {}

}  // namespace gstnpu

#endif
