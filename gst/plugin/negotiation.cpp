// InferenceElement: which frames it takes, and queries.
#include <npucore/error.hpp>
#include <string>

#include "plugin/bus.hpp"
#include "plugin/caps.hpp"
#include "plugin/frame_description.hpp"
#include "plugin/inference_element.hpp"
#include "plugin/offer.hpp"

namespace gstnpu {

// ---- Caps events

/// GStreamer itself refuses an event whose caps the pad does not take, before the element sees it,
/// and all that the user reads is "not-negotiated". Here they are told why, and what helps.
void InferenceElement::look_at_caps(const GstCaps* caps) {
  if (!opened_) return;
  try {
    stream_of(caps);
  } catch (const std::exception& error) {
    refuse_stream(error);
  }
}

/// One error, however often upstream sends the caps again.
void InferenceElement::refuse_stream(const std::exception& error) {
  told_refused_caps_ = true;  // that is more than a warning
  if (!refused_stream_.exchange(true)) post_error(element_, error, {});
}

/// Throws npu::Error for caps that no frame of ours has.
GstVideoInfo InferenceElement::stream_of(const GstCaps* caps) const {
  const std::shared_ptr<const Opened> opened = this->opened();
  const std::optional<GstVideoInfo> info = parse_caps(caps);
  if (!info) {
    const std::string tiled = tiled_formats(caps).first;
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "frames of " + text_of(caps) + " cannot be read: " +
                         (tiled.empty() ? "put videoconvert in front" : cure_of_tiles(tiled)));
  }
  const auto fixed = opened->source->fixed_layout();
  const auto format = to_pixel_format(GST_VIDEO_INFO_FORMAT(&*info));
  const auto width = static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&*info));
  const auto height = static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&*info));
  if (!fixed || (format == fixed->format && width == fixed->width && height == fixed->height)) {
    return *info;
  }
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   opened_->settings.model + " takes " + fixed->describe() +
                       ", but the stream is " + npu::to_string(*format) + " " +
                       std::to_string(width) + "x" + std::to_string(height) +
                       "; put videoconvertscale in front, or compile the blob for this stream: " +
                       opened->source->command_for(layout_of_stream(*info)));
}

void InferenceElement::warn_of_colors(const GstVideoInfo& info) const {
  const auto fixed = opened_->source->fixed_layout();
  if (!fixed || !GST_VIDEO_INFO_IS_YUV(&info)) return;
  if (color_matrix_of(info) == fixed->matrix && color_range_of(info) == fixed->range) return;
  post_warning(element_, "the blob was compiled for " + fixed->describe() + ", but the stream is " +
                             npu::to_string(color_matrix_of(info)) + " " +
                             npu::to_string(color_range_of(info)) +
                             ": colours are a little off; compile the blob for this stream: " +
                             opened_->source->command_for(layout_of_stream(info)));
}

// ---- Queries

gboolean InferenceElement::sink_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      answer_caps(src_, query);
      note_refused_caps(query);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      answer_accept_caps(query);
      return TRUE;
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
      answer_caps(sink_, query);
      return TRUE;
    case GST_QUERY_LATENCY:
      return answer_latency(query);
    default:
      return gst_pad_query_default(src_, GST_OBJECT(element_), query);
  }
}

/// What this element takes and the peer of `other` too, in the order of `filter`, which may be
/// null.
CapsRef InferenceElement::taken_caps(GstPad* other, GstCaps* filter) const {
  CapsRef own;
  {
    const std::lock_guard lock(opened_mutex_);
    const auto fixed = opened_ ? opened_->source->fixed_layout() : std::nullopt;
    own = fixed ? caps_of_layout(*fixed) : opened_ ? template_caps() : linkable_caps();
  }
  const CapsRef peer(gst_pad_peer_query_caps(other, own.get()));
  CapsRef taken(gst_caps_intersect_full(peer.get(), own.get(), GST_CAPS_INTERSECT_FIRST));
  if (filter) taken.reset(gst_caps_intersect_full(filter, taken.get(), GST_CAPS_INTERSECT_FIRST));
  return taken;
}

void InferenceElement::answer_caps(GstPad* other, GstQuery* query) const {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  gst_query_set_caps_result(query, taken_caps(other, filter).get());
}

/// Converters try this way whether they may pass frames as they are, so a refusal is not told
/// unless it ends the stream. Caps may leave out what has a default, like the framerate.
void InferenceElement::answer_accept_caps(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  const bool is_taken = !gst_caps_is_empty(taken_caps(src_, caps).get());
  gst_query_set_accept_caps_result(query, is_taken);
  if (is_taken || !opened()) return;
  try {
    stream_of(caps);
  } catch (const std::exception& error) {
    note_refusal(error.what());
  }
}

/// Upstream only reports "not-negotiated" when nothing that it offers is taken. A warning, for it
/// may still have other ways; when it has none, refuse_empty_stream() makes it an error.
void InferenceElement::note_refused_caps(GstQuery* query) {
  GstCaps* offered = nullptr;
  GstCaps* answer = nullptr;
  gst_query_parse_caps(query, &offered);
  gst_query_parse_caps_result(query, &answer);
  const std::shared_ptr<const Opened> opened = this->opened();
  if (!opened || !offered || gst_caps_is_empty(offered)) return;
  const TiledFormats tiled = tiled_formats(offered);
  if (!gst_caps_is_empty(answer)) {
    const bool only_copies = !has_dmabuf_feature(answer);
    if (only_copies && !tiled.first.empty()) note_tiles_beside(tiled.first);
    return;
  }
  const auto fixed = opened->source->fixed_layout();
  if (!fixed && !tiled.are_all) return;
  const std::string text =
      tiled.are_all ? "upstream offers only tiled DMA-BUFs, but " + cure_of_tiles(tiled.first)
                    : opened->settings.model + " takes " + fixed->describe() +
                          ", but upstream offers only " + text_of(offered) +
                          "; put videoconvertscale in front, or compile the blob for this stream "
                          "(npu-compile --frame)";
  note_refusal(text);
  if (!told_refused_caps_.exchange(true)) post_warning(element_, text);
}

void InferenceElement::note_refusal(const std::string& why) {
  const std::lock_guard lock(settings_mutex_);
  refusal_ = why;
}

/// The end of a stream that never began, because all that upstream offered was refused.
void InferenceElement::refuse_empty_stream() {
  std::string why;
  {
    const std::lock_guard lock(settings_mutex_);
    why = refusal_;
  }
  if (!why.empty()) refuse_stream(npu::Error(npu::ErrorCode::kIncompatible, why));
}

/// Upstream could send DMA-BUFs, if only they were linear.
void InferenceElement::note_tiles_beside(const std::string& format) {
  const std::lock_guard lock(settings_mutex_);
  tiles_beside_ = format;
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
