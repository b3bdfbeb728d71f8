// InferenceElement: queries.
#include "plugin/bus.hpp"
#include "plugin/caps.hpp"
#include "plugin/inference_element.hpp"
#include "plugin/offer.hpp"

namespace gstnpu {

gboolean InferenceElement::sink_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      return answer_caps(src_, query) && tell_refused_caps(query);
    case GST_QUERY_ALLOCATION:
      return answer_allocation(query);
    default:
      if (gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) {
        return fifo_.wait_drained() && gst_pad_peer_query(src_, query);
      }
      return gst_pad_query_default(sink_, GST_OBJECT(element_), query);
  }
}

gboolean InferenceElement::src_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      return answer_caps(sink_, query);
    case GST_QUERY_LATENCY:
      return answer_latency(query);
    default:
      return gst_pad_query_default(src_, GST_OBJECT(element_), query);
  }
}

gboolean InferenceElement::answer_caps(GstPad* other, GstQuery* query) const {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  CapsRef own;
  {
    const std::lock_guard lock(opened_mutex_);
    const auto fixed = opened_ ? opened_->source->fixed_layout() : std::nullopt;
    own = fixed ? caps_of_layout(*fixed) : template_caps();
  }
  const CapsRef peer(gst_pad_peer_query_caps(other, own.get()));
  CapsRef answer(gst_caps_intersect_full(peer.get(), own.get(), GST_CAPS_INTERSECT_FIRST));
  if (filter) answer.reset(gst_caps_intersect_full(filter, answer.get(), GST_CAPS_INTERSECT_FIRST));
  gst_query_set_caps_result(query, answer.get());
  return TRUE;
}

/// Upstream only reports "not-negotiated" when nothing that it offers fits a blob's one layout.
gboolean InferenceElement::tell_refused_caps(GstQuery* query) {
  GstCaps* offered = nullptr;
  GstCaps* answer = nullptr;
  gst_query_parse_caps(query, &offered);
  gst_query_parse_caps_result(query, &answer);
  const std::shared_ptr<const Opened> opened = this->opened();
  const auto fixed = opened ? opened->source->fixed_layout() : std::nullopt;
  if (!fixed || !offered || gst_caps_is_empty(offered) || !gst_caps_is_empty(answer)) return TRUE;
  if (told_refused_caps_.exchange(true)) return TRUE;
  gchar* text = gst_caps_to_string(offered);
  post_warning(element_, opened->settings.model + " takes " + fixed->describe() +
                             ", but upstream offers only " + text +
                             "; put videoconvertscale in front, or compile the blob for this "
                             "stream (npu-compile --frame)");
  g_free(text);
  return TRUE;
}

gboolean InferenceElement::answer_allocation(GstQuery* query) const {
  const std::shared_ptr<const Opened> opened = this->opened();
  if (!opened) return FALSE;
  // In flight, one more going downstream, one being filled.
  return offer_memory(query, {opened->allocator.get(), opened->source->fixed_layout(),
                              opened->settings.requests() + 2});
}

gboolean InferenceElement::answer_latency(GstQuery* query) {
  if (!gst_pad_peer_query(sink_, query)) return FALSE;
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  upstream_is_live_ = live;
  const guint64 own = latency_.reported_ns();
  if (GST_CLOCK_TIME_IS_VALID(max)) max += own + settings().requests() * frame_duration_ns_.load();
  gst_query_set_latency(query, live, min + own, max);
  return TRUE;
}

}  // namespace gstnpu
