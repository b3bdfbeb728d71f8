#include "lost_results.hpp"

#include <gst/video/gstvideometa.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/bus.hpp"
#include "common/refs.hpp"
#include "common/upstream.hpp"
#include "meta/npumeta.h"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

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

/// As the user knows it: npupublish is a bin, whose parts come from no factory.
std::string name_of(GstElement* element) {
  const std::string_view name = factory_of(element);
  if (!name.empty()) return std::string(name);
  const ElementRef bin(GST_ELEMENT(gst_object_get_parent(GST_OBJECT(element))));
  return bin ? std::string(factory_of(bin.get())) : "";
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

/// Whoever attached it.
bool has_results(GstBuffer* buffer) {
  if (gst_buffer_get_meta(buffer, gst_npu_inference_meta_api_get_type()) ||
      gst_buffer_get_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    return true;
  }
#ifdef GST_NPU_HAVE_ANALYTICS
  if (gst_buffer_get_analytics_relation_meta(buffer)) return true;
#endif
  return gst_npu_buffer_get_num_tensors(buffer) > 0;
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

bool drops_metas(GstElement* element) {
  const std::string_view name = factory_of(element);
  return name == "videocrop" || name == "videobox" || name == "videoflip";
}

/// The element that lost the frame's results: the first one behind nputensordec that is known to
/// drop them, else nputensordec itself, which everything behind it has in common. Null: not found.
ElementRef dropper_in_front_of(GstElement* element) {
  ElementRef dropper;
  for (ElementRef& before : elements_in_front_of(element)) {
    if (is_decoder(before.get())) return dropper ? std::move(dropper) : std::move(before);
    if (drops_metas(before.get())) {
      dropper = std::move(before);
    }
  }
  return nullptr;
}

bool is_a(GstElement* element, const char* type_name) {
  const GType type = g_type_from_name(type_name);
  return type != 0 && g_type_is_a(G_OBJECT_TYPE(element), type);
}

/// compositor and its like, and what makes frames of a compressed stream: metas stay in front.
bool makes_frames(GstElement* element) {
  return is_a(element, "GstVideoAggregator") || is_a(element, "GstVideoDecoder") ||
         factory_of(element) == "videomixer";
}

/// The nearest in front of the element, with no inference and no decoder of tensors between, whose
/// results would be of its frames.
ElementRef mixer_in_front_of(GstElement* element) {
  for (ElementRef& before : elements_in_front_of(element)) {
    if (infers(before.get()) || is_decoder(before.get())) return nullptr;
    if (makes_frames(before.get())) return std::move(before);
  }
  return nullptr;
}

bool has_decoded(GstElement* decoder) {
  GstStructure* read = nullptr;
  g_object_get(decoder, "stats", &read, nullptr);
  const StructureRef stats(read);
  guint64 frames = 0, without = 0;
  return stats && gst_structure_get_uint64(stats.get(), "frames", &frames) &&
         gst_structure_get_uint64(stats.get(), "frames-without-tensors", &without) &&
         frames > without;
}

/// The nputensordec in front of one of the element's inputs that has decoded frames already.
ElementRef busy_decoder_in_front_of(GstElement* element) {
  std::vector<ObjectRef<GstPad>> pads = sinks_of(element);
  for (int i = 0; !pads.empty() && i < kFarthestUpstream; ++i) {
    ObjectRef<GstPad> pad = std::move(pads.back());
    pads.pop_back();
    ElementRef before = element_feeding(std::move(pad));
    if (!before) continue;
    if (is_decoder(before.get()) && has_decoded(before.get())) return before;
    for (auto& further : sinks_of(before.get())) pads.push_back(std::move(further));
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
                   name_of(element));
}

void LostResults::look_at(GstElement* element, GstBuffer* buffer) {
  if (has_told_) return;
  if (!has_lost_results(buffer)) return look_for_mixer(element, buffer);
  has_told_ = true;
  const ElementRef dropper = dropper_in_front_of(element);
  if (!is_first_to_tell(element, dropper.get())) return;
  const bool is_known = dropper && drops_metas(dropper.get());
  const std::string name = is_known ? GST_OBJECT_NAME(dropper.get()) : "an element behind it";
  post_warning(element,
               "what nputensordec found is gone from the frames, or in the wrong places: " + name +
                   " drops metadata, as videocrop, videobox and videoflip do before "
                   "GStreamer 1.28. Put nputensordec behind " +
                   (is_known ? name : "that element") + ", where it finds the same");
}

/// A frame without results may be one of many that were not inferred, or come before the first:
/// only many of them in a row, from the first on, are looked into, and again and again.
void LostResults::look_for_mixer(GstElement* element, GstBuffer* buffer) {
  constexpr guint kPatience = 30;  // frames
  if (!has_mixer_) return;
  if (has_results(buffer)) {
    has_mixer_ = false;
    return;
  }
  if (++frames_in_vain_ % kPatience != 0) return;
  const ElementRef mixer = mixer_in_front_of(element);
  has_mixer_ = mixer != nullptr;
  const ElementRef decoder = mixer ? busy_decoder_in_front_of(mixer.get()) : nullptr;
  if (!decoder) return;
  has_told_ = true;
  if (!is_first_to_tell(element, mixer.get())) return;
  post_warning(element, std::to_string(frames_in_vain_) + " frames came without anything that " +
                            GST_OBJECT_NAME(decoder.get()) +
                            " found: " + GST_OBJECT_NAME(mixer.get()) +
                            " makes frames of its own, without metadata. Put " + name_of(element) +
                            " in front of " + GST_OBJECT_NAME(mixer.get()) + ", or on a tee there");
}

}  // namespace gstnpu
