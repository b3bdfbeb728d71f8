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

using ElementRef = ObjectRef<GstElement>;

// ---- One cause, one warning

/// Whether nobody has told of this cause, which may be null, in the stream that `element` has:
/// whoever is behind the cause has the same one.
bool is_first_to_tell(GstElement* element, GstElement* cause) {
  static const GQuark key = g_quark_from_static_string("npu-lost-results-told");
  const ObjectRef<GstPad> pad = only_sink_of(element);
  const EventRef start(pad ? gst_pad_get_sticky_event(pad.get(), GST_EVENT_STREAM_START, 0)
                           : nullptr);
  if (!cause || !start) return true;
  const guint32 stream = gst_event_get_seqnum(start.get());
  GST_OBJECT_LOCK(cause);
  const auto* told = static_cast<const guint32*>(g_object_get_qdata(G_OBJECT(cause), key));
  const bool is_first = !told || *told != stream;
  g_object_set_qdata_full(G_OBJECT(cause), key, g_memdup2(&stream, sizeof stream), g_free);
  GST_OBJECT_UNLOCK(cause);
  return is_first;
}

bool is_decoder(GstElement* element) {
  return factory_of(element) == "nputensordec";
}

// ---- On frames

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

/// Whether an inference of the whole frame was not decoded.
bool has_undecoded(GstBuffer* buffer) {
  return is_any_inference(buffer, [](const GstNpuInferenceMeta& origin, guint) {
    return !origin.is_region && !origin.is_decoded;
  });
}

// ---- In front of an element

/// The nearest inference, unless an element in between may have decoded its tensors. GStreamer's
/// own decoders have such names too, and an element with several inputs may hide one. Null: there
/// is no such inference.
ElementRef inference_straight_in_front_of(GstElement* element) {
  for (ElementRef& before : elements_in_front_of(element)) {
    if (factory_of(before.get()).find("tensordec") != std::string_view::npos) return nullptr;
    if (infers(before.get())) return std::move(before);
  }
  return nullptr;
}

/// Null: there is none.
ElementRef decoder_in_front_of(GstElement* element) {
  for (ElementRef& before : elements_in_front_of(element)) {
    if (is_decoder(before.get())) return std::move(before);
  }
  return nullptr;
}

}  // namespace

void UndecodedTensors::look_at(GstElement* element, GstBuffer* buffer) {
  if (is_settled_ || !has_undecoded(buffer)) return;
  is_settled_ = true;
  const ElementRef inference = inference_straight_in_front_of(element);
  if (!inference || !is_first_to_tell(element, inference.get())) return;
  post_warning(element,
               "the frames come with tensors that nobody has decoded: put nputensordec in front "
               "of " +
                   std::string(factory_of(element)));
}

void LostResults::look_at(GstElement* element, GstBuffer* buffer) {
  if (has_told_ || !has_lost_results(buffer)) return;
  has_told_ = true;
  const ElementRef decoder = decoder_in_front_of(element);
  if (!is_first_to_tell(element, decoder.get())) return;
  post_warning(element,
               "what nputensordec found is gone from the frames: an element behind it drops "
               "metadata, as videocrop, videobox and videoflip do before GStreamer 1.28. Put that "
               "element in front of npuinfer");
}

}  // namespace gstnpu
