#include "lost_results.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "common/bus.hpp"
#include "common/refs.hpp"
#include "common/upstream.hpp"
#include "meta/npumeta.h"

namespace gstnpu {
namespace {

/// Whether it holds for the inference of one of the frame's tensors. Its origin and the tensors
/// stay, whatever becomes of the frame.
template <typename Holds>
bool is_any_inference(GstBuffer* buffer, Holds holds) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const guint id = gst_npu_buffer_get_tensor_inference(buffer, i);
    const GstNpuInferenceMeta* origin = gst_buffer_get_npu_inference_origin(buffer, id);
    if (origin && holds(*origin, id)) return true;
  }
  return false;
}

bool has_lost_results(GstBuffer* buffer) {
  return is_any_inference(buffer, [buffer](const GstNpuInferenceMeta& origin, guint id) {
    return origin.is_decoded && !gst_buffer_get_npu_inference_meta_id(buffer, id);
  });
}

/// Of a whole frame.
bool has_undecoded(GstBuffer* buffer) {
  return is_any_inference(buffer, [](const GstNpuInferenceMeta& origin, guint) {
    return !origin.is_region && !origin.is_decoded;
  });
}

/// Between the element and the nearest inference stands nothing that could have: GStreamer's own
/// decoders have such names, too, and an element with several inputs may hide one.
bool comes_straight_from_inference(GstElement* element) {
  ObjectRef<GstPad> pad = only_sink_of(element);
  for (int i = 0; pad && i < kFarthestUpstream; ++i) {
    const ObjectRef<GstPad> source = feeding(std::move(pad));
    const ObjectRef<GstElement> before(source ? gst_pad_get_parent_element(source.get()) : nullptr);
    if (!before || factory_of(before.get()).find("tensordec") != std::string_view::npos) {
      return false;
    }
    if (infers(before.get())) return true;
    pad = only_sink_of(before.get());
  }
  return false;
}

}  // namespace

void UndecodedTensors::look_at(GstElement* element, GstBuffer* buffer) {
  if (is_settled_ || !has_undecoded(buffer)) return;
  is_settled_ = true;
  if (!comes_straight_from_inference(element)) return;
  const std::string_view name = factory_of(element);
  post_warning(element,
               "the frames come with tensors that nobody has decoded: put nputensordec in front "
               "of " +
                   std::string(name));
}

void LostResults::look_at(GstElement* element, GstBuffer* buffer) {
  if (has_told_ || !has_lost_results(buffer)) return;
  has_told_ = true;
  post_warning(element,
               "what nputensordec found is gone from the frames, or in the wrong places: an "
               "element behind it drops metadata, as videocrop, videobox and videoflip do before "
               "GStreamer 1.28. Put nputensordec behind that element, which it follows");
}

}  // namespace gstnpu
