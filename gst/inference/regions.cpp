#include "regions.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <set>
#include <utility>

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {
namespace {

constexpr std::size_t kMostTracks = 4096;  // remembered by an ObjectPicker

/// Signed, as producers meant it: negative numbers arrive as huge unsigned ones.
struct Box {
  gint64 x, y, width, height;
};

/// nullopt where nothing of the box is inside the frame.
std::optional<PixelRect> clip(const Box& box, guint width, guint height) {
  const gint64 left = std::max<gint64>(box.x, 0);
  const gint64 top = std::max<gint64>(box.y, 0);
  const gint64 right = std::min<gint64>(box.x + box.width, width);
  const gint64 bottom = std::min<gint64>(box.y + box.height, height);
  if (box.width <= 0 || box.height <= 0 || right <= left || bottom <= top) return std::nullopt;
  return PixelRect{static_cast<guint>(left), static_cast<guint>(top),
                   static_cast<guint>(right - left), static_cast<guint>(bottom - top)};
}

void add(FrameObjects& found, const std::optional<PixelRect>& box, FrameObject object) {
  if (!box) {
    ++found.refused;
    return;
  }
  object.box = *box;
  found.usable.push_back(std::move(object));
}

GstVideoRegionOfInterestMeta* next_roi(GstBuffer* buffer, gpointer* state) {
  return reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_iterate_meta_filtered(buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
}

Box box_of(GstVideoRegionOfInterestMeta* roi) {
  return {static_cast<gint>(roi->x), static_cast<gint>(roi->y), static_cast<gint>(roi->w),
          static_cast<gint>(roi->h)};
}

/// Reads what DL Streamer's gvatrack writes. Trackers write -1 for an object without a track.
std::optional<guint64> track_of(GstVideoRegionOfInterestMeta* roi) {
  const GstStructure* structure = gst_video_region_of_interest_meta_get_param(roi, "object_id");
  gint id = 0;
  if (!structure || !gst_structure_get_int(structure, "id", &id) || id < 0) return std::nullopt;
  return static_cast<guint64>(id);
}

FrameObject object_of(GstVideoRegionOfInterestMeta* roi, std::size_t index) {
  const gchar* label = g_quark_to_string(roi->roi_type);
  return {{}, {index, roi->id}, label ? label : "", track_of(roi)};
}

#ifdef GST_NPU_HAVE_ANALYTICS

std::optional<guint64> track_of(GstAnalyticsRelationMeta* relations, guint object) {
  gpointer state = nullptr;
  GstAnalyticsTrackingMtd tracking;
  guint64 id = 0;
  GstClockTime first = 0, last = 0;
  gboolean lost = FALSE;
  if (!gst_analytics_relation_meta_get_direct_related(relations, object, GST_ANALYTICS_REL_TYPE_ANY,
                                                      gst_analytics_tracking_mtd_get_mtd_type(),
                                                      &state, &tracking) ||
      !gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost)) {
    return std::nullopt;
  }
  return id;
}

Box location_of(GstAnalyticsODMtd& object) {
  gint x = 0, y = 0, w = 0, h = 0;
  gfloat confidence = 0;
  gst_analytics_od_mtd_get_location(&object, &x, &y, &w, &h, &confidence);
  return {x, y, w, h};
}

bool is_turned([[maybe_unused]] GstAnalyticsODMtd& object) {
#if GST_CHECK_VERSION(1, 25, 0)
  gint x = 0, y = 0, w = 0, h = 0;
  gfloat angle = 0, confidence = 0;
  return gst_analytics_od_mtd_get_oriented_location(&object, &x, &y, &w, &h, &angle, &confidence) &&
         angle != 0;
#else
  return false;
#endif
}

/// Whether `object` and the region of its id are the same: nputensordec writes each object as both,
/// with the box around it where it is turned.
bool is_twin(GstAnalyticsODMtd& object, const std::optional<PixelRect>& region, guint width,
             guint height) {
  const Box box = location_of(object);
  if (clip(box, width, height) == region) return true;
  if (!region || !is_turned(object)) return false;
  const gint64 x = box.x + box.width / 2 - region->x, y = box.y + box.height / 2 - region->y;
  return x >= 0 && x <= region->width && y >= 0 && y <= region->height;
}

FrameObject* find_twin(FrameObjects& found, GstAnalyticsODMtd& object, guint width, guint height) {
  const auto twin =
      std::find_if(found.usable.begin(), found.usable.end(), [&](const FrameObject& region) {
        return region.link.roi && region.link.object_id == static_cast<gint>(object.id) &&
               is_twin(object, region.box, width, height);
      });
  return twin == found.usable.end() ? nullptr : &*twin;
}

/// Whether the region's id belongs to another object elsewhere in the frame.
bool has_id_of_another(GstBuffer* buffer, GstVideoRegionOfInterestMeta* roi, guint width,
                       guint height) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsODMtd object;
  return relations && roi->id >= 0 &&
         gst_analytics_relation_meta_get_od_mtd(relations, static_cast<guint>(roi->id), &object) &&
         !is_twin(object, clip(box_of(roi), width, height), width, height);
}

void add_analytics(FrameObjects& found, GstBuffer* buffer, guint width, guint height) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (relations && gst_analytics_relation_meta_iterate(
                          relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object)) {
    const auto box = clip(location_of(object), width, height);
    const auto id = static_cast<gint>(object.id);
    const auto track = track_of(relations, object.id);
    if (FrameObject* twin = find_twin(found, object, width, height)) {
      twin->track = twin->track ? twin->track : track;
      continue;
    }
    const gchar* label = g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&object));
    add(found, box, {{}, {std::nullopt, id}, label ? label : "", track});
  }
}

gint objects_of_analytics(GstBuffer* buffer) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  return relations ? static_cast<gint>(gst_analytics_relation_get_length(relations)) : 0;
}

#else

void add_analytics(FrameObjects&, GstBuffer*, guint, guint) {}
gint objects_of_analytics(GstBuffer*) {
  return 0;
}
bool has_id_of_another(GstBuffer*, GstVideoRegionOfInterestMeta*, guint, guint) {
  return false;
}

#endif

/// Gives each region an id of its own: many elements leave the id at 0. A repeated id, or one of a
/// GstAnalytics object elsewhere in the frame, is replaced. The buffer is writable; returns the ids
/// in the buffer's order.
std::vector<gint> give_ids(GstBuffer* buffer, guint width, guint height) {
  std::vector<GstVideoRegionOfInterestMeta*> rois;
  gint next = objects_of_analytics(buffer);
  gpointer state = nullptr;
  while (auto* roi = next_roi(buffer, &state)) {
    rois.push_back(roi);
    next = std::max(next, roi->id < G_MAXINT ? roi->id + 1 : 0);
  }
  std::vector<gint> ids;
  std::set<gint> used;
  for (auto* roi : rois) {
    if (has_id_of_another(buffer, roi, width, height) || !used.insert(roi->id).second) {
      roi->id = next++;
    }
    ids.push_back(roi->id);
  }
  return ids;
}

}  // namespace

FrameObjects find_objects(GstBuffer* buffer, guint width, guint height) {
  FrameObjects found;
  gpointer state = nullptr;
  std::size_t index = 0;
  while (auto* roi = next_roi(buffer, &state)) {
    add(found, clip(box_of(roi), width, height), object_of(roi, index++));
  }
  add_analytics(found, buffer, width, height);
  return found;
}

ObjectPicker::ObjectPicker(const std::string& classes) : classes_(classes) {}

ObjectPicker::Picked ObjectPicker::pick(FrameObjects found, guint interval) {
  Picked picked;
  picked.refused = found.refused;
  drop_old_tracks(interval);
  for (FrameObject& object : found.usable) {
    if (!classes_.has(object.label)) continue;
    if (picked.objects.size() == kMostObjects) {
      ++picked.refused;
    } else if (is_due(object, interval)) {
      picked.objects.push_back(std::move(object));
    } else {
      picked.has_waiting = true;
    }
  }
  ++frame_;
  return picked;
}

void ObjectPicker::take_back() {
  --frame_;
  std::erase_if(inferred_at_, [this](const auto& track) { return track.second == frame_; });
  if (others_at_ == frame_) {
    others_at_.reset();
  }
}

/// Notes each object that is due. Objects of one track in one frame (a body and its face) are due
/// together; so are all objects without a track.
bool ObjectPicker::is_due(const FrameObject& object, guint interval) {
  if (!object.track) {
    if (others_at_ && waits(*others_at_, interval)) return false;
    others_at_ = frame_;
    return true;
  }
  const auto known = inferred_at_.find(*object.track);
  if (known != inferred_at_.end() && waits(known->second, interval)) return false;
  inferred_at_[*object.track] = frame_;
  return true;
}

bool ObjectPicker::waits(guint64 inferred_at, guint interval) const {
  const guint64 age = frame_ - inferred_at;
  return age > 0 && age < interval;
}

/// Tracks that are due again need no note. If too many remain, all are forgotten: their objects are
/// then inferred at once.
void ObjectPicker::drop_old_tracks(guint interval) {
  if (inferred_at_.size() <= kMostTracks) return;
  std::erase_if(inferred_at_, [&](const auto& track) { return frame_ - track.second >= interval; });
  if (inferred_at_.size() > kMostTracks) {
    inferred_at_.clear();
  }
}

BufferRef finish(RegionFrame frame) {
  BufferRef buffer(gst_buffer_make_writable(frame.buffer.release()));
  RegionResults& results = *frame.results;
  const std::vector<gint> ids = give_ids(buffer.get(), results.frame_width, results.frame_height);
  for (InferenceResult& result : results.done) {
    ObjectLink& link = result.region->object;
    if (link.roi && *link.roi < ids.size()) {
      link.object_id = ids[*link.roi];
    }
    attach(buffer.get(), std::move(result));
  }
  return buffer;
}

}  // namespace gstnpu
