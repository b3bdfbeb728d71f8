#include "followed_metas.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>

namespace gstnpu {
namespace {

/// From 1.28 on filters that change places tell metas what they do.
bool filters_tell() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 28;
}

void apply(const FrameMove& move, GstNpuInferenceMeta* meta) {
  gst_npu_inference_meta_move(meta, move.is_transposed, move.scale_x, move.scale_y, move.move_x,
                              move.move_y);
}

/// As the frame was inferred.
void reset(const GstNpuInferenceMeta& origin, GstNpuInferenceMeta* meta) {
  meta->offset_x = origin.offset_x;
  meta->offset_y = origin.offset_y;
  meta->scale_x = origin.scale_x;
  meta->scale_y = origin.scale_y;
  meta->is_transposed = origin.is_transposed;
  meta->region_x = origin.region_x;
  meta->region_y = origin.region_y;
  meta->region_w = origin.region_w;
  meta->region_h = origin.region_h;
}

/// videocrop does no more than to add or change it where downstream takes it. One that is gone was
/// applied to the pixels.
void follow_crop(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop) return;
  apply({.move_x = static_cast<double>(meta->crop_x) - crop->x,
         .move_y = static_cast<double>(meta->crop_y) - crop->y},
        meta);
  meta->crop_x = crop->x;
  meta->crop_y = crop->y;
}

void follow(GstBuffer* buffer, const GstNpuInferenceMeta& origin, const FramePath& path) {
  GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta_id(buffer, origin.inference_id);
  if (meta && filters_tell()) return follow_crop(buffer, meta);
  if (!meta && origin.is_region) return;
  const std::optional<FrameMove> move = path.move_of(origin);
  if (!move) {
    if (!meta && !origin.is_decoded) {
      path.check_sizes(origin);
    }
    if (!meta) return;
    path.check_borders(origin);
    return follow_crop(buffer, meta);
  }
  if (!meta) {
    meta = gst_buffer_restore_npu_inference_meta(buffer, &origin);
    meta->inference_id = origin.inference_id;
  }
  reset(origin, meta);
  apply(*move, meta);
}

}  // namespace

void renew_path(GstBuffer* buffer, GstPad* sink, FramePath* path) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const auto* origin =
        gst_buffer_get_npu_inference_origin(buffer, gst_npu_buffer_get_tensor_inference(buffer, i));
    if (!origin || !path->is_older_than(*origin)) continue;
    *path = FramePath(sink);
    return;
  }
}

void follow_frame(GstBuffer* buffer, const FramePath& path) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  std::optional<guint> last;
  for (guint i = 0; i < count; ++i) {
    const guint id = gst_npu_buffer_get_tensor_inference(buffer, i);
    if (last == id) continue;
    last = id;
    if (const GstNpuInferenceMeta* origin = gst_buffer_get_npu_inference_origin(buffer, id)) {
      follow(buffer, *origin, path);
    }
  }
}

}  // namespace gstnpu
