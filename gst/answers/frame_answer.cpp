#include "frame_answer.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

using AnswerRef = std::shared_ptr<const FrameAnswer>;

/// Copies of the buffer share the answer, which nobody changes.
struct AnswerMeta {
  GstMeta meta;
  AnswerRef* answer;
};

AnswerMeta* as_answer_meta(GstMeta* meta) {
  return reinterpret_cast<AnswerMeta*>(meta);
}

gboolean init_meta(GstMeta* meta, gpointer, GstBuffer*) {
  as_answer_meta(meta)->answer = new AnswerRef();
  return TRUE;
}

void free_meta(GstMeta* meta, GstBuffer*) {
  delete as_answer_meta(meta)->answer;
}

AnswerRef followed(const FrameAnswer& answer, const ToldMove& told) {
  FrameAnswer result =
      moved(answer, told.move,
            {static_cast<std::uint32_t>(told.width), static_cast<std::uint32_t>(told.height)});
  if (told.is_crop_cut_off) {
    result.crop_x = result.crop_y = 0;
  }
  return std::make_shared<FrameAnswer>(std::move(result));
}

gboolean transform_meta(GstBuffer* to, GstMeta* meta, GstBuffer* from, GQuark type, gpointer data) {
  const AnswerRef& answer = *as_answer_meta(meta)->answer;
  if (!answer) return FALSE;
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    put_answer(to, answer);
    return TRUE;
  }
  const auto told = told_move(type, data, from, answer->crop_x, answer->crop_y);
  if (!told) return FALSE;
  put_answer(to, followed(*answer, *told));
  return TRUE;
}

/// Elements that change frames and tell nobody drop the answer by these tags, as they drop regions.
GType answer_api() {
  static const GType type = [] {
    static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                  GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
    return gst_meta_api_type_register("GstNpuFrameAnswerMetaAPI", tags);
  }();
  return type;
}

const GstMetaInfo* answer_info() {
  static const GstMetaInfo* info =
      gst_meta_register(answer_api(), "GstNpuFrameAnswerMeta", sizeof(AnswerMeta), init_meta,
                        free_meta, transform_meta);
  return info;
}

}  // namespace

const std::vector<std::string>& FoundMap::names() const {
  static const std::vector<std::string> none;
  return labels ? *labels : none;
}

FoundObject* FrameAnswer::find(gint object_id) {
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [object_id](const auto& one) { return one.id() == object_id; });
  return found == objects.end() ? nullptr : &*found;
}

AnswerRef answer_on(GstBuffer* buffer) {
  GstMeta* meta = gst_buffer_get_meta(buffer, answer_api());
  return meta ? *as_answer_meta(meta)->answer : nullptr;
}

void put_answer(GstBuffer* buffer, AnswerRef answer) {
  GstMeta* meta = gst_buffer_get_meta(buffer, answer_api());
  if (!meta) {
    meta = gst_buffer_add_meta(buffer, answer_info(), nullptr);
  }
  if (meta) {
    *as_answer_meta(meta)->answer = std::move(answer);
  }
}

}  // namespace gstnpu

gboolean gst_npu_buffer_has_answer(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  return gstnpu::answer_on(buffer) != nullptr;
}

gboolean gst_npu_buffer_has_lost_answer(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  if (gst_npu_buffer_has_answer(buffer)) return FALSE;
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const auto* origin =
        gst_buffer_get_npu_inference_origin(buffer, gst_npu_buffer_get_tensor_inference(buffer, i));
    if (origin && origin->is_decoded) return TRUE;
  }
  return FALSE;
}

gboolean gst_npu_buffer_get_answer_size(GstBuffer* buffer, guint* width, guint* height) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  const auto answer = gstnpu::answer_on(buffer);
  if (!answer || answer->frame.width == 0) return FALSE;
  if (!gstnpu::move_of_crop(buffer, answer->crop_x, answer->crop_y).is_identity()) return FALSE;
  *width = answer->frame.width;
  *height = answer->frame.height;
  return TRUE;
}
