#include <gst/video/gstvideometa.h>

#include <cmath>

#include "meta/npumeta.h"

namespace {

gboolean init_meta(GstMeta* base, gpointer, GstBuffer*) {
  auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
  meta->model = nullptr;
  meta->model_width = meta->model_height = 0;
  meta->offset_x = meta->offset_y = 0;
  meta->scale_x = meta->scale_y = 1;
  meta->inference_ns = 0;
  meta->labels = nullptr;
  meta->inference_id = 0;
  meta->is_region = FALSE;
  meta->object_id = 0;
  meta->region_x = meta->region_y = meta->region_w = meta->region_h = 0;
  meta->is_decoded = FALSE;
  meta->card = nullptr;
  meta->results = nullptr;
  return TRUE;
}

void free_meta(GstMeta* base, GstBuffer*) {
  auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
  g_free(meta->model);
  g_free(meta->labels);
  if (meta->card) {
    g_ref_string_release(meta->card);
  }
  if (meta->results) {
    gst_structure_free(meta->results);
  }
}

GstNpuInferenceMeta* copy_meta(GstBuffer* to, const GstNpuInferenceMeta& from) {
  GstNpuInferenceMeta* copy = gst_buffer_add_npu_inference_meta(to, from.model);
  if (!copy) return nullptr;
  copy->model_width = from.model_width;
  copy->model_height = from.model_height;
  copy->offset_x = from.offset_x;
  copy->offset_y = from.offset_y;
  copy->scale_x = from.scale_x;
  copy->scale_y = from.scale_y;
  copy->inference_ns = from.inference_ns;
  copy->labels = g_strdup(from.labels);
  copy->inference_id = from.inference_id;
  copy->is_region = from.is_region;
  copy->object_id = from.object_id;
  copy->region_x = from.region_x;
  copy->region_y = from.region_y;
  copy->region_w = from.region_w;
  copy->region_h = from.region_h;
  copy->is_decoded = from.is_decoded;
  copy->card = from.card ? g_ref_string_acquire(from.card) : nullptr;
  copy->results = from.results ? gst_structure_copy(from.results) : nullptr;
  return copy;
}

guint scaled(guint pixels, double factor) {
  return static_cast<guint>(std::lround(pixels * factor));
}

const GstNpuInferenceMeta* as_inference_meta(const GstMeta* meta) {
  return reinterpret_cast<const GstNpuInferenceMeta*>(meta);
}

guint next_inference_id(GstBuffer* buffer) {
  guint next = 0;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, gst_npu_inference_meta_api_get_type())) {
    next = MAX(next, as_inference_meta(meta)->inference_id + 1);
  }
  return next;
}

// A scaled frame keeps its geometry: only the frame pixels per model pixel change.
gboolean transform_meta(GstBuffer* to, GstMeta* base, GstBuffer*, GQuark type, gpointer data) {
  auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
  if (GST_META_TRANSFORM_IS_COPY(type)) return copy_meta(to, *meta) != nullptr;
  if (!GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) return FALSE;
  auto* scale = static_cast<GstVideoMetaTransform*>(data);
  const int in_width = GST_VIDEO_INFO_WIDTH(scale->in_info);
  const int in_height = GST_VIDEO_INFO_HEIGHT(scale->in_info);
  if (in_width <= 0 || in_height <= 0) return FALSE;
  GstNpuInferenceMeta* copy = copy_meta(to, *meta);
  if (!copy) return FALSE;
  const auto x = static_cast<gdouble>(GST_VIDEO_INFO_WIDTH(scale->out_info)) / in_width;
  const auto y = static_cast<gdouble>(GST_VIDEO_INFO_HEIGHT(scale->out_info)) / in_height;
  copy->scale_x *= x;
  copy->scale_y *= y;
  copy->region_x = scaled(meta->region_x, x);
  copy->region_y = scaled(meta->region_y, y);
  copy->region_w = scaled(meta->region_w, x);
  copy->region_h = scaled(meta->region_h, y);
  return TRUE;
}

}  // namespace

GType gst_npu_inference_meta_api_get_type(void) {
  static const GType type = [] {
    static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                  GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
    return gst_meta_api_type_register("GstNpuInferenceMetaAPI", tags);
  }();
  return type;
}

const GstMetaInfo* gst_npu_inference_meta_get_info(void) {
  static const GstMetaInfo* info =
      gst_meta_register(gst_npu_inference_meta_api_get_type(), "GstNpuInferenceMeta",
                        sizeof(GstNpuInferenceMeta), init_meta, free_meta, transform_meta);
  return info;
}

GstNpuInferenceMeta* gst_buffer_add_npu_inference_meta(GstBuffer* buffer, const gchar* model) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  const guint id = next_inference_id(buffer);
  auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(
      gst_buffer_add_meta(buffer, gst_npu_inference_meta_get_info(), nullptr));
  if (meta) {
    meta->model = g_strdup(model);
    meta->inference_id = id;
  }
  return meta;
}

GstNpuInferenceMeta* gst_buffer_get_npu_inference_meta_id(GstBuffer* buffer, guint inference_id) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
    if (meta->inference_id == inference_id) return meta;
  }
  return nullptr;
}

GstNpuInferenceMeta* gst_buffer_get_npu_frame_inference_meta(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
    if (!meta->is_region) return meta;
  }
  return gst_buffer_get_npu_inference_meta(buffer);
}
