#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "meta/npumeta.h"

#include "frame_move.hpp"

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
  meta->is_transposed = FALSE;
  meta->frame_width = meta->frame_height = 0;
  meta->crop_x = meta->crop_y = 0;
  return TRUE;
}

void free_meta(GstMeta* base, GstBuffer*) {
  auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
  g_free(meta->model);
  g_free(meta->labels);
  if (meta->card) {
    g_ref_string_release(meta->card);
  }
}

/// Copies all values that need no ownership.
void copy_values(const GstNpuInferenceMeta& from, GstNpuInferenceMeta* to) {
  to->model_width = from.model_width;
  to->model_height = from.model_height;
  to->offset_x = from.offset_x;
  to->offset_y = from.offset_y;
  to->scale_x = from.scale_x;
  to->scale_y = from.scale_y;
  to->inference_ns = from.inference_ns;
  to->inference_id = from.inference_id;
  to->is_region = from.is_region;
  to->object_id = from.object_id;
  to->region_x = from.region_x;
  to->region_y = from.region_y;
  to->region_w = from.region_w;
  to->region_h = from.region_h;
  to->is_decoded = from.is_decoded;
  to->is_transposed = from.is_transposed;
  to->frame_width = from.frame_width;
  to->frame_height = from.frame_height;
  to->crop_x = from.crop_x;
  to->crop_y = from.crop_y;
}

GstNpuInferenceMeta* copy_meta(GstBuffer* to, const GstNpuInferenceMeta& from) {
  GstNpuInferenceMeta* copy = gst_buffer_add_npu_inference_meta(to, from.model);
  if (!copy) return nullptr;
  copy_values(from, copy);
  copy->labels = g_strdup(from.labels);
  copy->card = from.card ? g_ref_string_acquire(from.card) : nullptr;
  return copy;
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

// ---- Frames that are scaled, cropped, mirrored or turned

/// The moved span in whole pixels, from its lower to its upper edge, not below 0.
std::pair<guint, guint> moved_span(guint first, guint length, double scale, double move) {
  const double a = first * scale + move;
  const double b = (static_cast<double>(first) + length) * scale + move;
  const double low = std::max(0.0, std::round(std::min(a, b)));
  const double high = std::max(low, std::round(std::max(a, b)));
  return {static_cast<guint>(low), static_cast<guint>(high - low)};
}

bool follow(GstBuffer* to, const GstNpuInferenceMeta& meta, const gstnpu::ToldMove& told) {
  GstNpuInferenceMeta* copy = copy_meta(to, meta);
  if (!copy) return false;
  if (told.is_crop_cut_off) {
    copy->crop_x = copy->crop_y = 0;
  }
  const gstnpu::FrameMove& move = told.move;
  gst_npu_inference_meta_move(copy, move.is_transposed, move.scale_x, move.scale_y, move.move_x,
                              move.move_y);
  return true;
}

gboolean transform_meta(GstBuffer* to, GstMeta* base, GstBuffer* from, GQuark type, gpointer data) {
  const auto& meta = *reinterpret_cast<GstNpuInferenceMeta*>(base);
  if (GST_META_TRANSFORM_IS_COPY(type)) return copy_meta(to, meta) != nullptr;
  const auto told = gstnpu::told_move(type, data, from, meta.crop_x, meta.crop_y);
  return told && follow(to, meta, *told);
}

// ---- The origin: same structure, under an API without tags, which elements pass on unchanged.

void free_origin(GstMeta* base, GstBuffer*) {
  auto* origin = reinterpret_cast<GstNpuInferenceMeta*>(base);
  g_free(origin->labels);
  if (origin->card) {
    g_ref_string_release(origin->card);
  }
}

gboolean copy_origin(GstBuffer* to, GstMeta* base, GstBuffer*, GQuark type, gpointer) {
  if (!GST_META_TRANSFORM_IS_COPY(type)) return FALSE;
  gst_buffer_keep_npu_inference_origin(to, reinterpret_cast<GstNpuInferenceMeta*>(base));
  return TRUE;
}

GType origin_api() {
  static const GType type = [] {
    static const gchar* tags[] = {nullptr};
    return gst_meta_api_type_register("GstNpuInferenceOriginMetaAPI", tags);
  }();
  return type;
}

const GstMetaInfo* origin_info() {
  static const GstMetaInfo* info =
      gst_meta_register(origin_api(), "GstNpuInferenceOriginMeta", sizeof(GstNpuInferenceMeta),
                        init_meta, free_origin, copy_origin);
  return info;
}

GstNpuInferenceMeta* find_meta(GstBuffer* buffer, GType api, guint inference_id) {
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state, api)) {
    auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
    if (meta->inference_id == inference_id) return meta;
  }
  return nullptr;
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
  return find_meta(buffer, gst_npu_inference_meta_api_get_type(), inference_id);
}

void gst_buffer_keep_npu_inference_origin(GstBuffer* buffer, const GstNpuInferenceMeta* meta) {
  g_return_if_fail(GST_IS_BUFFER(buffer) && meta);
  auto* origin =
      reinterpret_cast<GstNpuInferenceMeta*>(gst_buffer_add_meta(buffer, origin_info(), nullptr));
  if (!origin) return;
  copy_values(*meta, origin);
  origin->model = const_cast<gchar*>(g_intern_string(meta->model));  // no allocation for each frame
  origin->labels = meta->card ? nullptr : g_strdup(meta->labels);    // else the card has them
  origin->card = meta->card ? g_ref_string_acquire(meta->card) : nullptr;
}

GstNpuInferenceMeta* gst_buffer_get_npu_inference_origin(GstBuffer* buffer, guint inference_id) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return find_meta(buffer, origin_api(), inference_id);
}

void gst_npu_inference_meta_move(GstNpuInferenceMeta* meta, gboolean is_transposed, gdouble scale_x,
                                 gdouble scale_y, gdouble move_x, gdouble move_y) {
  g_return_if_fail(meta);
  if (is_transposed) {
    std::swap(meta->offset_x, meta->offset_y);
    std::swap(meta->scale_x, meta->scale_y);
    std::swap(meta->region_x, meta->region_y);
    std::swap(meta->region_w, meta->region_h);
    meta->is_transposed = !meta->is_transposed;
  }
  meta->scale_x *= scale_x;
  meta->scale_y *= scale_y;
  if (move_x != 0) {
    meta->offset_x -= move_x / meta->scale_x;
  }
  if (move_y != 0) {
    meta->offset_y -= move_y / meta->scale_y;
  }
  std::tie(meta->region_x, meta->region_w) =
      moved_span(meta->region_x, meta->region_w, scale_x, move_x);
  std::tie(meta->region_y, meta->region_h) =
      moved_span(meta->region_y, meta->region_h, scale_y, move_y);
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
