#include "track_meta.hpp"

#include "tensor_view.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {
namespace {

#ifdef GST_NPU_HAVE_ANALYTICS
void track_in_analytics(GstBuffer* buffer, guint object, const Identity& identity) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsTrackingMtd tracking;
  if (!relations || !gst_analytics_relation_meta_add_tracking_mtd(
                        relations, identity.id, identity.first_seen_ns, &tracking)) {
    return;
  }
  gst_analytics_tracking_mtd_update_last_seen(&tracking, identity.last_seen_ns);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object,
                                           tracking.id);
}
#endif

/// Elements that drop metas of a frame's size keep the origin or the tensors.
bool has_tensors_of_frame(GstBuffer* buffer) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const auto* origin =
        gst_buffer_get_npu_inference_origin(buffer, gst_npu_buffer_get_tensor_inference(buffer, i));
    if (!origin || !origin->is_region) return true;
  }
  return false;
}

}  // namespace

void attach_identity(GstBuffer* buffer, const Region& region, const Identity& identity) {
  if (region.meta) {
    // DL Streamer's field is an int.
    const auto id = static_cast<gint>(identity.id & G_MAXINT);
    gst_video_region_of_interest_meta_add_param(
        region.meta, gst_structure_new("object_id", "id", G_TYPE_INT, id, nullptr));
  }
#ifdef GST_NPU_HAVE_ANALYTICS
  if (region.analytics_id) {
    track_in_analytics(buffer, *region.analytics_id, identity);
  }
#else
  static_cast<void>(buffer);
#endif
}

bool is_inferred(GstBuffer* buffer) {
  return meta_of_frame(buffer) || has_tensors_of_frame(buffer);
}

}  // namespace gstnpu
