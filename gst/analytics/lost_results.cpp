#include "lost_results.hpp"

#include "common/bus.hpp"
#include "meta/npumeta.h"

namespace gstnpu {
namespace {

/// The origin and the tensors stay, whatever becomes of the frame.
bool has_lost_results(GstBuffer* buffer) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const guint id = gst_npu_buffer_get_tensor_inference(buffer, i);
    const GstNpuInferenceMeta* origin = gst_buffer_get_npu_inference_origin(buffer, id);
    if (origin && origin->is_decoded && !gst_buffer_get_npu_inference_meta_id(buffer, id)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void LostResults::look_at(GstElement* element, GstBuffer* buffer) {
  if (has_told_ || !has_lost_results(buffer)) return;
  has_told_ = true;
  post_warning(element,
               "what nputensordec found is gone from the frames, or in the wrong places: an "
               "element behind it drops metadata, as videocrop, videobox and videoflip do before "
               "GStreamer 1.28. Put nputensordec behind that element, which it follows");
}

}  // namespace gstnpu
